//! Every edit of every case, in every format, played.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::case::Case;
use crate::edit::{Edit, Worth};
use crate::format::Format;
use crate::trial::{self, ReplayCheck, TrialStart, Verdict};
use crate::{damaging, faithful};

/// Formats, and one in how many edits is played in each: a whole text costs a parse of the whole.
const FORMATS: [(Format, usize); 5] = [
    (Format::Function, 1),
    (Format::WholeText, 3),
    (Format::SearchReplace, 6),
    (Format::UnifiedDiff, 6),
    (Format::ApplyPatch, 6),
];

/// What became of one edit.
pub(crate) struct Outcome {
    pub(crate) worth: Worth,
    pub(crate) format: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) variant: String,
    pub(crate) verdict: Verdict,
}

/// All trials of one function, or why it has no base for any.
pub(crate) type Played = Result<Trials, String>;

pub(crate) struct Trials {
    pub(crate) outcomes: Vec<Outcome>,
    /// Definitions of the text as shown that have parse errors.
    pub(crate) damaged: Option<Vec<String>>,
}

/// Plays every case; the results are in the order of the cases.
pub(crate) fn play_all(cases: &[Case]) -> Vec<Played> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, Played>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    let played = play(case);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.insert(index, played);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(results.len(), cases.len(), "every case was played");
    results.into_values().collect()
}

fn play(case: &Case) -> Played {
    let start = TrialStart::new(case, trial::disk_of(&case.path, &case.file))?;
    let mut edits = faithful::edits(case);
    edits.extend(damaging::edits(case));
    let mut outcomes = Vec::new();
    for (at, edit) in edits.iter().enumerate() {
        for (format, one_in) in FORMATS {
            let dice = format!("{}{}", edit.kind, format.name().len());
            if case.dice(&dice).below(one_in) != 0 {
                continue;
            }
            let replay = if at == 0 {
                ReplayCheck::Check
            } else {
                ReplayCheck::Skip
            };
            if let Some((kind, verdict)) = start.play(edit, format, replay) {
                outcomes.push(Outcome {
                    worth: edit.worth,
                    format: format.name(),
                    kind,
                    variant: variant(edit),
                    verdict,
                });
            }
        }
    }
    Ok(Trials {
        outcomes,
        damaged: start.damaged,
    })
}

fn variant(edit: &Edit) -> String {
    match edit.variant.as_str() {
        "" => edit.kind.to_owned(),
        variant => variant.to_owned(),
    }
}
