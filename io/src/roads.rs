//! The two roads to a state, for `tslp verify`: from the first event, and from the tables.

use tslp_projections::TABLES;
use tslp_projections::table::TableDigest;
use tslp_replay::state::State;

use crate::diagnostics::doctor::DoctorReport;
use crate::ledger::LedgerReader;
use crate::startup;

/// Adds to a report whether a start from the tables goes on from the state that the whole ledger gives.
pub(crate) fn compare(reader: &LedgerReader, folded: &State, report: &mut DoctorReport) {
    let head = folded.head();
    let expected = digests(folded);
    report.add_check("genesis fold", Ok(words(folded, &expected)));
    let restored = startup::restore(
        |table, visit| reader.read_table(table, visit),
        &|seq| reader.event_at(seq),
        head,
    );
    let compared = restored.and_then(|(state, read)| {
        let kept = reader.digests().map_err(|error| error.to_string())?;
        let kept = kept.ok_or("a table has no digest")?;
        let found = digests(&state);
        let differs = |index: &usize| {
            found[*index] != expected[*index]
                || read[*index] != expected[*index]
                || kept[*index] != expected[*index]
        };
        let wrong: Vec<_> = (0..TABLES.len()).filter(differs).collect();
        match wrong.is_empty() {
            true => Ok(words(&state, &found)),
            false => {
                let names: Vec<_> = wrong.iter().map(|index| TABLES[*index].name).collect();
                Err(format!("they are wrong about {}", names.join(", ")))
            }
        }
    });
    report.add_check(
        "state from the tables",
        compared.map_err(|why| {
            format!("{why}. Stop the proxy and run `tslp rebuild`, which folds them anew")
        }),
    );
}

/// Of each table; of the archives, whose rows are in no state, that of no rows.
fn digests(state: &State) -> Vec<TableDigest> {
    let digest = |(index, table): (usize, &tslp_projections::table::Table)| match table.is_archive()
    {
        true => TableDigest::default(),
        false => state.digest(index),
    };
    TABLES.iter().enumerate().map(digest).collect()
}

fn words(state: &State, digests: &[TableDigest]) -> String {
    let mut hasher = blake3::Hasher::new();
    digests.iter().for_each(|digest| {
        hasher.update(&digest.to_bytes());
    });
    let hash = hasher.finalize().to_hex();
    format!("the state at {} is {}", state.head(), &hash[..16])
}
