//! The two roads to a state, for `tslp verify`: from the first event, and from the checkpoint.

use std::ops::ControlFlow;
use std::path::Path;

use tslp_replay::chain::ChainHash;
use tslp_replay::state::State;

use crate::checkpoint::{self, Loaded, Mark, NotWritten};
use crate::diagnostics::doctor::Report;
use crate::ledger::LedgerReader;
use crate::ledger::disk::FileSystem;
use crate::startup;

/// Adds to a report whether the checkpoint and what came after it lead to the state that the whole ledger gives. No
/// checkpoint that can be used is no failure: it is disposable.
pub(crate) fn compare(
    file: &Path,
    reader: &LedgerReader,
    folded: &State,
    chain: ChainHash,
    report: &mut Report,
) {
    let folded_mark = match checkpoint::mark(folded, chain) {
        Ok(mark) => mark,
        Err(error) => return report.add("genesis fold", Err(error.to_string())),
    };
    report.add("genesis fold", Ok(words(folded_mark)));
    let Loaded { state, mark } = match checkpoint::load(&FileSystem, file, reader) {
        Ok(loaded) => loaded,
        Err(reason) => {
            let detail = format!("not used: {reason}. Nothing is lost by that but time at a start");
            return report.add("checkpoint + tail", Ok(detail));
        }
    };
    let at = mark.head;
    if at.seq > folded.head() {
        let detail = format!("not used: a proxy wrote it meanwhile, at {}", at.seq);
        return report.add("checkpoint + tail", Ok(detail));
    }
    // A proxy may go on writing.
    let tail = startup::fold_tail(
        |from, visit| {
            reader.read(from, &mut |stored| {
                if stored.seq > folded.head() {
                    return ControlFlow::Break(());
                }
                visit(stored)
            })
        },
        state,
        at.chain,
    );
    let compared = match tail {
        Ok(state) => same(&state, chain, folded, folded_mark)
            .map(|words| format!("from {} on: {words}", at.seq)),
        Err(error) => Err(error.to_string()),
    };
    report.add("checkpoint + tail", compared);
}

fn same(
    state: &State,
    chain: ChainHash,
    folded: &State,
    folded_mark: Mark,
) -> Result<String, String> {
    let mark = checkpoint::mark(state, chain).map_err(|error| error.to_string())?;
    if mark == folded_mark {
        return Ok(words(mark));
    }
    let differing = differing(state, folded).map_err(|error| error.to_string())?;
    Err(format!(
        "{}: the checkpoint is wrong about {}. Stop the proxy and run `tslp rebuild`, which deletes it and writes it anew",
        words(mark),
        differing.join(", ")
    ))
}

/// The kinds of parts that aren't the same in both states.
fn differing(one: &State, other: &State) -> Result<Vec<&'static str>, NotWritten> {
    let (one, other) = (checkpoint::kinds(one)?, checkpoint::kinds(other)?);
    let mut names: Vec<_> = (one.iter().filter(|kind| !other.contains(kind)))
        .chain(other.iter().filter(|kind| !one.contains(kind)))
        .map(|(name, _)| *name)
        .collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

fn words(mark: Mark) -> String {
    let short: String = mark.hash[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("the state at {} is {short}", mark.head.seq)
}
