//! Replays a ledger in every way and compares the results with the live state.

use tslp_core::event::Recorded;
use tslp_core::ids::Seq;
use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::TABLES;
use tslp_projections::row::UnfitRow;
use tslp_projections::state::State;
use tslp_projections::store::Store;
use tslp_projections::table::Value;
use tslp_replay::chain::ChainHash;
use tslp_replay::deep::DeepVerifier;
use tslp_replay::fold::Replay;
use tslp_replay::log::Stored;
use tslp_replay::trace::Difference;

use crate::store::MemoryStore;
use crate::tables::{Tables, state_tables};

/// The state that these events give.
#[must_use]
pub fn folded<'r>(events: impl IntoIterator<Item = &'r Recorded>) -> State {
    let mut state = State::default();
    for recorded in events {
        state.apply(recorded);
    }
    state
}

/// All rows of one table, by key.
#[must_use]
pub fn rows(state: &State, table: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    state.visit_rows(table, &mut |row| rows.push(row));
    rows.sort();
    rows
}

/// Compares the live state, which has forgotten nothing, with others, table by table: the same events folded anew; the
/// same events encoded, chained, verified, decoded and folded; the tables that were kept by the live fold's row changes
/// alone; the archives of a fold that forgets each row at once.
///
/// # Panics
/// When they differ, or an event doesn't come back from its stored bytes as it was.
pub fn check(ledger: &[Recorded], live: &State, tables: &Tables) {
    let folded = folded(ledger);
    let stored = state_of_stored_bytes(ledger);
    let archives = MemoryStore::of_ledger(ledger);
    for (index, table) in TABLES.iter().enumerate() {
        let live = rows(live, index);
        assert_eq!(live, rows(&folded, index), "fold of {}", table.name);
        assert_eq!(live, rows(&stored, index), "replay of {}", table.name);
        assert_eq!(live, tables.rows(index), "row changes of {}", table.name);
        if table.is_archive() {
            assert_eq!(
                live,
                archives.rows(index),
                "forgetful fold of {}",
                table.name
            );
        }
    }
    check_restored(ledger, live, &folded);
}

/// Compares the live state with others, table by table and in the results of look-ups: the same events folded anew, and the
/// same events with the state written as rows and restored from them after some of the events.
fn check_restored(ledger: &[Recorded], live: &State, folded: &State) {
    check_names(live, folded);
    for apart in [ledger.len() / 3, ledger.len() / 2, ledger.len()] {
        let mut state = State::default();
        for (number, recorded) in (1..).zip(ledger) {
            state.apply(recorded);
            if number == apart {
                state = restored_from_rows(&state, ledger);
            }
        }
        for (index, table) in state_tables() {
            let (live, restored) = (rows(live, index), rows(&state, index));
            assert_eq!(live, restored, "{} restored after {apart}", table.name);
        }
        check_names(live, &state);
    }
}

/// A state that was written as rows and restored from them.
///
/// # Panics
/// When a row can't be restored.
#[must_use]
pub fn restored_from_rows(state: &State, ledger: &[Recorded]) -> State {
    let event = |seq: Seq| {
        let mut events = ledger.iter();
        events.find(|recorded| recorded.seq == seq).cloned()
    };
    let mut restoring = State::default();
    for (index, table) in state_tables() {
        for row in rows(state, index) {
            let taken = restoring.restore_row(index, &row, &event);
            taken.unwrap_or_else(|UnfitRow(what)| panic!("{}: {what}: {row:?}", table.name));
        }
    }
    let restored = restoring.restored(state.head(), &event);
    restored.unwrap_or_else(|UnfitRow(what)| panic!("{what}"))
}

/// Look-ups that have a limit give the same in both states.
fn check_names(one: &State, other: &State) {
    let (one, other) = (one.state_map(), other.state_map());
    for path in one.paths() {
        let name = path.basename();
        assert_eq!(one.files_named(name, 64), other.files_named(name, 64));
        assert_eq!(one.case_twin(path), other.case_twin(path));
        for symbol in one.symbols_of(path) {
            let name = symbol.last_component();
            assert_eq!(one.entities_named(name, 64), other.entities_named(name, 64));
        }
    }
}

/// The state that stored bytes give.
fn state_of_stored_bytes(ledger: &[Recorded]) -> State {
    let mut replay = Replay::default();
    let mut chain = ChainHash::GENESIS;
    for recorded in ledger {
        let encoded = tslp_migrations::encode(&recorded.event)
            .unwrap_or_else(|error| panic!("{}: {error}", recorded.seq));
        let stored = Stored::after(chain, recorded.envelope, encoded.kind, encoded.payload);
        chain = stored.chain;
        let decoded = tslp_migrations::decode(stored.kind, &stored.payload);
        assert_eq!(decoded.as_ref(), Ok(&recorded.event), "{}", recorded.seq);
        replay
            .step(&stored, tslp_migrations::decode)
            .unwrap_or_else(|error| panic!("{}: {error}", recorded.seq));
    }
    replay.into_state()
}

/// Makes every decision again from the recorded observations; returns the differences and the verifier.
#[must_use]
pub fn verify_deep(
    ledger: &[Recorded],
    policy: &Policy,
) -> (
    Vec<Difference>,
    DeepVerifier<TreeSitterGrammars, impl Store>,
) {
    let store = MemoryStore::of_ledger(ledger);
    let mut deep = DeepVerifier::new(TreeSitterGrammars, policy.clone(), store);
    let mut differences = Vec::new();
    for recorded in ledger {
        differences.extend(deep.next(recorded.clone()));
    }
    differences.extend(deep.finish());
    (differences, deep)
}

/// Makes every decision again.
///
/// # Panics
/// When one differs, or the state does.
pub fn check_deep(ledger: &[Recorded], live: &State, policy: &Policy) {
    let (differences, deep) = verify_deep(ledger, policy);
    assert!(differences.is_empty(), "{differences:#?}");
    // The verification forgets the archives' rows on its way.
    for (index, table) in state_tables() {
        assert_eq!(
            live.rows_hash(index),
            deep.state().rows_hash(index),
            "deep fold of {}",
            table.name
        );
    }
}
