//! docs/reliability.md names a test for each fault; no name in it may be out of date.

const LIST: &str = include_str!("../../../docs/reliability.md");

const SOURCES: &[&str] = &[
    include_str!("bit_flips.rs"),
    include_str!("clock.rs"),
    include_str!("errors.rs"),
    include_str!("hostile_events.rs"),
    include_str!("interrupted.rs"),
    include_str!("moving.rs"),
    include_str!("power_loss.rs"),
    include_str!("rollback.rs"),
    include_str!("simulated_disk.rs"),
    include_str!("../../../io/tests/e2e/starts.rs"),
    include_str!("../../../io/tests/e2e/durability.rs"),
    include_str!("../../../io/tests/e2e/full_disk.rs"),
    include_str!("../../../io/tests/e2e/kills.rs"),
    include_str!("../../../io/tests/e2e/refusals.rs"),
    include_str!("../../../io/wire/src/http/outgoing.rs"),
    include_str!("../../../io/src/main_loop/memory_budget.rs"),
    include_str!("../../../io/src/upstream/connection.rs"),
    include_str!("../../../io/tests/e2e/memory.rs"),
    include_str!("../../../io/tests/http/memory.rs"),
    include_str!("../../../io/tests/e2e/other_versions.rs"),
    include_str!("../../../io/store/src/ledger/tests/formats.rs"),
    include_str!("../../../io/store/src/ledger/archive_check.rs"),
    include_str!("../../../io/store/src/ledger/tests/opening.rs"),
    include_str!("../../../io/store/src/ledger/tests/tables.rs"),
    include_str!("../../../grammars/tests/extract/hostile.rs"),
    include_str!("../../../core/src/capture/tests/mod.rs"),
    include_str!("../../../core/src/capture/fence.rs"),
];

#[test]
fn every_test_that_the_list_names_exists() {
    let rows = LIST.lines().filter(|line| line.starts_with("| "));
    let mut named = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            let function = format!("fn {name}()");
            let found = SOURCES.iter().any(|source| source.contains(&function));
            assert!(found, "{name}");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}
