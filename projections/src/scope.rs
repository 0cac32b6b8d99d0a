//! Which files the user lets a model see, by rules in the order in which they were said.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use tslp_core::event::{Event, PlaceKind, PlaceObserved, Recorded};
use tslp_core::ids::{Seq, SessionId, UnixMillis};
use tslp_core::path::{self, RelPath};
use tslp_core::scope::{OffRules, ScopeChange};

use crate::row::Row as _;
use crate::row_map::RowMap;

row! {
    /// `scope`: the rules about files that hold.
    pub struct ScopeRow in table "scope", version 1;
    key {
        /// The event that brought the rule.
        seq: Seq,
    }
    values {
        /// What it says of the files.
        rule: ScopeChange,
        /// The conversation in which it holds; 0 is all.
        session: SessionId,
        /// The files: a pattern, or of a lock the file.
        pattern: String,
        /// The conversation in which it was said; 0 is a terminal.
        said_in: SessionId,
        /// When it was said.
        at_ms: UnixMillis,
    }
}

row! {
    /// `aliases`: other names of what is beneath the root, such as links.
    pub struct AliasRow in table "aliases", version 1;
    key {
        /// The name.
        alias: String,
    }
    values {
        /// The file or folder itself.
        place: String,
    }
}

/// Most other names that are kept.
const ALIASES_KEPT: usize = 4096;

/// All conversations.
const ALL: SessionId = SessionId(0);

/// The rules that hold.
#[derive(Default)]
pub struct Scope {
    pub(crate) rules: RowMap<ScopeRow>,
    pub(crate) aliases: RowMap<AliasRow>,
    /// Those about files that are off, until there are others.
    off: OnceCell<OffRules>,
}

impl Scope {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let changed = match &recorded.event {
            Event::ScopeChanged(changed) => changed,
            Event::PlaceObserved(seen) if is_alias(seen) => {
                let row = AliasRow {
                    alias: seen.written.clone(),
                    place: seen.ours.clone(),
                };
                // What was a link is a file by now.
                match row.alias == row.place {
                    true => self.aliases.remove(&row.key()),
                    false => self.aliases.put(row),
                };
                self.aliases.keep_last(ALIASES_KEPT);
                self.off = OnceCell::new();
                return;
            }
            _ => return,
        };
        let (change, session, pattern) = (changed.change, changed.session, &changed.pattern);
        let is_about_sight = |rule| matches!(rule, ScopeChange::Off | ScopeChange::On);
        let ends = |row: &ScopeRow| match change {
            // The last word on a pattern counts, and `on` for all files takes all others back.
            ScopeChange::Off => is_about_sight(row.rule) && row.pattern == *pattern,
            ScopeChange::On => {
                is_about_sight(row.rule) && (pattern == "**" || row.pattern == *pattern)
            }
            ScopeChange::Lock => {
                (row.rule, row.session, &row.pattern) == (change, session, pattern)
            }
            ScopeChange::Unlock => is_unlocked(row, session, pattern),
        };
        self.rules.forget(ends);
        // Nothing is on by a rule where nothing is off.
        let holds = match change {
            ScopeChange::Off | ScopeChange::Lock => true,
            ScopeChange::On => self.rules().any(|row| row.rule == ScopeChange::Off),
            ScopeChange::Unlock => false,
        };
        if holds {
            let row = ScopeRow {
                seq: recorded.seq,
                rule: change,
                session,
                pattern: pattern.clone(),
                said_in: recorded.session,
                at_ms: recorded.at,
            };
            self.rules.put(row);
        }
        self.off = OnceCell::new();
    }

    /// The rules, in the order in which they were said.
    pub fn rules(&self) -> impl Iterator<Item = &ScopeRow> {
        self.rules.values()
    }

    /// The rules about files that are off.
    #[must_use]
    pub fn off(&self) -> &OffRules {
        self.off.get_or_init(|| {
            let rules = self.rules().filter(|row| row.rule != ScopeChange::Lock);
            let rules = rules.map(|row| (row.rule, row.pattern.clone()));
            let aliases = self.aliases.values();
            let aliases = aliases.map(|row| (row.alias.clone(), row.place.clone()));
            OffRules::new(rules, aliases.collect())
        })
    }

    /// The other name that a path is, or leads through.
    #[must_use]
    pub fn alias_in(&self, path: &str) -> Option<&AliasRow> {
        let mut names = path::with_folders(path).take_while(|_| !self.aliases.is_empty());
        names.find_map(|alias| self.aliases.get(&(String::from(alias),)))
    }

    /// The files that are locked in a conversation, each once, in the order in which that was said.
    #[must_use]
    pub fn locked(&self, session: SessionId) -> Vec<RelPath> {
        let mut paths: Vec<RelPath> = Vec::new();
        let locks = self.rules().filter(|row| row.rule == ScopeChange::Lock);
        for row in locks.filter(|row| [ALL, session].contains(&row.session)) {
            let path = RelPath::from_normalised(&row.pattern);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// Whether `unlock` would take a lock away.
    #[must_use]
    pub fn is_locked(&self, session: SessionId, pattern: &str) -> bool {
        self.rules().any(|row| is_unlocked(row, session, pattern))
    }
}

fn is_alias(seen: &PlaceObserved) -> bool {
    seen.place == PlaceKind::Beneath && !seen.written.starts_with('/')
}

/// Whether a lock ends by `unlock`: without a pattern all of them do. Said of all conversations it ends those of each; said in one it
/// ends those that hold there.
fn is_unlocked(row: &ScopeRow, session: SessionId, pattern: &str) -> bool {
    row.rule == ScopeChange::Lock
        && (pattern.is_empty() || row.pattern == pattern)
        && (session == ALL || [ALL, session].contains(&row.session))
}
