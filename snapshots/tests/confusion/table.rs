//! The confusion table: kinds of edits against what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::edit::Worth;
use crate::measure::Outcome;
use crate::trial::Verdict;

/// Surprises that are listed one by one.
const LISTED_MAX: usize = 10;

/// One row's key.
type Row = (Worth, &'static str, &'static str);

#[derive(Default)]
struct Counts {
    promoted: usize,
    unchanged: usize,
    misfiled: usize,
    refused: BTreeMap<String, usize>,
}

impl Counts {
    fn refusals(&self) -> usize {
        self.refused.values().sum()
    }

    fn all(&self) -> usize {
        self.promoted + self.unchanged + self.misfiled + self.refusals()
    }
}

/// Verdicts by worth, format and kind, and the surprises among them.
#[derive(Default)]
pub(crate) struct Table {
    rows: BTreeMap<Row, Counts>,
    surprises: BTreeMap<Row, Vec<String>>,
}

impl Table {
    /// Counts one trial; `about` names it if it is a surprise.
    pub(crate) fn count(&mut self, outcome: &Outcome, about: impl FnOnce() -> String) {
        let Outcome { worth, verdict, .. } = outcome;
        let row = (*worth, outcome.kind, outcome.format);
        let counts = self.rows.entry(row).or_default();
        match verdict {
            Verdict::Promoted => counts.promoted += 1,
            Verdict::Unchanged => counts.unchanged += 1,
            Verdict::Misfiled => counts.misfiled += 1,
            Verdict::Refused(reason) => {
                *counts.refused.entry(reason.clone()).or_default() += 1;
            }
        }
        if is_surprise(*worth, verdict) {
            let said = match verdict {
                Verdict::Refused(reason) => format!("{}: {reason}", about()),
                Verdict::Misfiled => format!("{}: something else became true", about()),
                _ => about(),
            };
            self.surprises.entry(row).or_default().push(said);
        }
    }

    /// The kinds of edits of this worth.
    pub(crate) fn kinds(&self, worth: Worth) -> BTreeSet<&'static str> {
        let rows = self.rows.keys().filter(|(of, ..)| *of == worth);
        rows.map(|(_, kind, _)| *kind).collect()
    }

    /// Trials of this worth, and those of them that went as they should, of kinds for which `counts` says yes.
    pub(crate) fn score(&self, worth: Worth, counts: impl Fn(&str) -> bool) -> (usize, usize) {
        let rows = self
            .rows
            .iter()
            .filter(|((of, kind, _), _)| *of == worth && counts(kind));
        rows.fold((0, 0), |(all, right), (_, row)| {
            let good = match worth {
                Worth::Faithful => row.promoted + row.unchanged,
                Worth::Damaging => row.all() - row.promoted,
            };
            (all + row.all(), right + good)
        })
    }

    /// The surprises of kinds for which `counts` says yes, row by row.
    pub(crate) fn surprises(&self, worth: Worth, counts: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        for ((of, kind, format), list) in &self.surprises {
            if *of != worth || !counts(kind) {
                continue;
            }
            let _ = writeln!(text, "{kind}, {format}: {} in all", list.len());
            for said in list.iter().take(LISTED_MAX) {
                let _ = writeln!(text, "    {said}");
            }
        }
        text
    }

    /// The rows that hold surprises, in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from(
            "| worth | kind | format | trials | promoted | unchanged | misfiled | refused | for |\n|---|---|---|--:|--:|--:|--:|--:|---|\n",
        );
        for (key @ (worth, kind, format), row) in &self.rows {
            if !self.surprises.contains_key(key) {
                continue;
            }
            let mut reasons: Vec<_> = row.refused.iter().collect();
            reasons.sort_by_key(|(reason, count)| (usize::MAX - **count, (*reason).clone()));
            let reasons: Vec<String> = reasons
                .iter()
                .take(4)
                .map(|(reason, count)| format!("{reason} {count}"))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {kind} | {format} | {} | {} | {} | {} | {} | {} |",
                match worth {
                    Worth::Faithful => "faithful",
                    Worth::Damaging => "damaging",
                },
                row.all(),
                row.promoted,
                row.unchanged,
                row.misfiled,
                row.refusals(),
                reasons.join(", ")
            );
        }
        text
    }
}

fn is_surprise(worth: Worth, verdict: &Verdict) -> bool {
    match worth {
        Worth::Faithful => matches!(verdict, Verdict::Refused(_) | Verdict::Misfiled),
        Worth::Damaging => *verdict == Verdict::Promoted,
    }
}
