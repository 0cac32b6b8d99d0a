//! docs/storage.md names a test for each fault; no name in it may be out of date.

use std::collections::BTreeSet;

use crate::stories::headers;

const LIST: &str = include_str!("../../../docs/storage.md");

#[test]
fn listed_tests_exist() {
    let tests: BTreeSet<String> = headers::tests().into_iter().map(|test| test.name).collect();
    let (_, faults) = LIST
        .split_once("\n## What it survives\n")
        .expect("the faults");
    let (faults, _) = faults.split_once("\n## ").expect("the next heading");
    let rows = faults.lines().filter(|line| line.starts_with("| "));
    let mut named = 0;
    for row in rows {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for name in cell.split('`').skip(1).step_by(2) {
            assert!(tests.contains(name), "{name}");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}
