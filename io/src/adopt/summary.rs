//! The result for a tree, as a table for people and as JSON for programs.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use tslp_core::artifact::Transition;
use tslp_core::event::Recorded;
use tslp_workspace::tree::reading::SkipReason;

use super::AdoptMode;

/// Most files named that couldn't be read completely.
const UNREAD_MAX: usize = 20;

/// Most names shown of the files that were skipped for one reason.
const NAMES_MAX: usize = 5;

/// Counts of files, entities and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptSummary {
    /// Files that changed the truth.
    pub files_adopted: u64,
    /// Files that say nothing new.
    pub files_true_already: u64,
    /// Of both: files with parse errors, of which the sound definitions were taken.
    pub files_damaged: u64,
    /// The first of these, with the lines that couldn't be read.
    pub unread: Vec<String>,
    /// Entities that became true.
    pub entities: u64,
    /// Entities that their files no longer define.
    pub entities_removed: u64,
    /// Source of both kinds of files.
    pub bytes: u64,
    /// Files of which no code was taken.
    pub skipped: BTreeMap<SkipReason, SkippedFiles>,
}

/// Files skipped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedFiles {
    /// Their number.
    pub files: u64,
    /// The first of them, in the order of the walk.
    pub names: Vec<String>,
}

impl AdoptSummary {
    pub(super) fn count_skipped(&mut self, name: &str, why: SkipReason) {
        let skipped = self.skipped.entry(why).or_default();
        skipped.files += 1;
        if skipped.names.len() < NAMES_MAX {
            skipped.names.push(name.to_owned());
        }
    }

    /// Counts a file of which code was taken, with the events that this made.
    pub(super) fn count_file(
        &mut self,
        bytes: usize,
        unread: Option<String>,
        recorded: &[Recorded],
    ) {
        let moved = |wanted: Transition| {
            let moves = recorded.iter().flat_map(|it| it.event.transitions());
            moves.filter(|moved| moved.transition == wanted).count() as u64
        };
        let (promoted, removed) = (moved(Transition::Promote), moved(Transition::Remove));
        self.bytes += bytes as u64;
        self.files_damaged += u64::from(unread.is_some());
        self.unread.extend(unread);
        self.unread.truncate(UNREAD_MAX);
        self.entities += promoted;
        self.entities_removed += removed;
        if promoted + removed > 0 {
            self.files_adopted += 1;
        } else {
            self.files_true_already += 1;
        }
    }

    /// Adds what was found elsewhere.
    pub(super) fn add(&mut self, more: Self) {
        self.files_adopted += more.files_adopted;
        self.files_true_already += more.files_true_already;
        self.files_damaged += more.files_damaged;
        self.unread.extend(more.unread);
        self.unread.truncate(UNREAD_MAX);
        self.entities += more.entities;
        self.entities_removed += more.entities_removed;
        self.bytes += more.bytes;
        for (why, more) in more.skipped {
            let skipped = self.skipped.entry(why).or_default();
            skipped.files += more.files;
            skipped.names.extend(more.names);
            skipped.names.truncate(NAMES_MAX);
        }
    }

    /// The summary as JSON.
    #[must_use]
    pub fn json(&self, mode: AdoptMode) -> Value {
        let skipped: serde_json::Map<String, Value> = self
            .skipped
            .iter()
            .map(|(why, skipped)| {
                let value = json!({ "files": skipped.files, "first": skipped.names });
                (why.code().to_owned(), value)
            })
            .collect();
        json!({
            "bytes": self.bytes,
            "dry_run": mode == AdoptMode::DryRun,
            "entities": self.entities,
            "entities_removed": self.entities_removed,
            "files_adopted": self.files_adopted,
            "files_true_already": self.files_true_already,
            "files_with_parse_errors": self.files_damaged,
            "skipped": skipped,
            "unread": self.unread,
        })
    }

    /// The summary, for people.
    #[must_use]
    pub fn text_lines(&self, mode: AdoptMode) -> Vec<String> {
        let (adopted, removed) = match mode {
            AdoptMode::Append => ("adopted", "no longer in their files, removed"),
            AdoptMode::DryRun => (
                "would be adopted",
                "no longer in their files, would be removed",
            ),
        };
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["", "files", "entities", "bytes"]);
        let bytes = self.bytes.to_string();
        let mut row = |what: &str, files: u64, entities: &str, bytes: &str| {
            table.add_row([what, &files.to_string(), entities, bytes]);
        };
        row(adopted, self.files_adopted, &self.entities.to_string(), "");
        row("true already", self.files_true_already, "", "");
        row(
            "read, in all",
            self.files_adopted + self.files_true_already,
            "",
            &bytes,
        );
        if self.files_damaged > 0 {
            row(
                "with parse errors, taken as far as they parse",
                self.files_damaged,
                "",
                "",
            );
        }
        for (why, skipped) in &self.skipped {
            let what = format!("skipped: {}", why.description());
            row(&what, skipped.files, "", "");
        }
        if self.entities_removed > 0 {
            table.add_row([removed, "", &self.entities_removed.to_string(), ""]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let table = table.trim_fmt();
        let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
        if !self.unread.is_empty() {
            debug_assert!(
                self.unread.len() as u64 <= self.files_damaged,
                "the first of these"
            );
            let more = match self.files_damaged - self.unread.len() as u64 {
                0 => String::new(),
                more => format!(" and {more} more files"),
            };
            let unread = self.unread.join("; ");
            lines.push(format!("not read, and so never true: {unread}{more}"));
        }
        for (why, skipped) in &self.skipped {
            // Most trees are full of files that aren't code; their names are of no use.
            if *why == SkipReason::NoGrammar {
                continue;
            }
            debug_assert!(
                skipped.names.len() as u64 <= skipped.files,
                "the first of these"
            );
            let more = skipped.files - skipped.names.len() as u64;
            let names = skipped.names.join(", ");
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            lines.push(format!("{}: {names}{more}", why.description()));
        }
        lines
    }
}
