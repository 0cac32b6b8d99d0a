//! Compares the two ways of computing the state, for `tslp verify`: folding all events, and reading the tables.

use tslp_projections::TABLES;
use tslp_projections::state::State;
use tslp_projections::table::{Table, TableDigest};
use tslp_store::ledger::LedgerReader;
use tslp_store::startup;

use crate::diagnostics::doctor::DoctorReport;

/// Reports whether a start from the tables gives the state that was folded from the whole ledger.
pub(crate) fn check_both_folds(reader: &LedgerReader, folded: &State, report: &mut DoctorReport) {
    let head = folded.head();
    let expected = state_digests(folded);
    report.add_check("genesis fold", Ok(describe_state(folded, &expected)));
    let restored = startup::state_of_tables(reader, head);
    let compared = restored.and_then(|(state, read)| {
        let kept = reader.table_digests().map_err(|error| error.to_string())?;
        let kept = kept.ok_or("a table has no digest")?;
        let found = state_digests(&state);
        debug_assert!(found.len() == TABLES.len() && expected.len() == TABLES.len());
        let differs = |index: &usize| {
            found[*index] != expected[*index]
                || read[*index] != expected[*index]
                || kept[*index] != expected[*index]
        };
        let wrong: Vec<_> = (0..TABLES.len())
            .filter(differs)
            .map(|index| TABLES[index].name)
            .collect();
        if wrong.is_empty() {
            return Ok(describe_state(&state, &found));
        }
        Err(format!("they are wrong about {}", wrong.join(", ")))
    });
    report.add_check(
        "state from the tables",
        compared.map_err(|why| {
            format!("{why}. Stop the proxy and run `tslp rebuild`, which folds them anew")
        }),
    );
}

/// Each table's digest; an archive's, whose rows aren't in the state, is that of no rows.
fn state_digests(state: &State) -> Vec<TableDigest> {
    let digest = |(index, table): (usize, &Table)| {
        if table.is_archive() {
            TableDigest::default()
        } else {
            state.digest(index)
        }
    };
    TABLES.iter().enumerate().map(digest).collect()
}

fn describe_state(state: &State, digests: &[TableDigest]) -> String {
    let mut hasher = blake3::Hasher::new();
    digests.iter().for_each(|digest| {
        hasher.update(&digest.to_bytes());
    });
    let hash = hasher.finalize().to_hex();
    format!("the state at {} is {}", state.head(), &hash[..16])
}
