//! Compares the truth with the disk at this moment (spec §15.1, §15.7), for a page; nothing is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding};
use tslp_core::extract::GrammarTag;
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::table::Value as Cell;
use tslp_projections::{DISK, STATE_MAP};
use tslp_replay::pending::DiskCheck;

use super::{TableRow as _, entity_name};
use crate::config::ServeConfig;
use crate::ledger::{LedgerError, LedgerReader};
use tslp_workspace::observer::{Observer, SystemClock, WorkspaceObserver as _};

/// Nobody waits for this look but the person who asked for the page.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files that are looked at together.
const FILES_AT_ONCE: usize = 256;

/// Looks at the files of what is true. A file is hashed once, and again when its size or times have changed.
pub struct DiskNow {
    observer: Mutex<Observer>,
}

/// Differences from the last look on record.
#[derive(Debug, Default)]
pub(crate) struct DiskChanges {
    /// What disk holds now of each entity whose file has changed: `same`, `unknown`, `missing` or `unreadable`.
    pub(crate) entities: BTreeMap<String, &'static str>,
    /// The changed files; with the reason, if one can't be read now.
    pub(crate) files: BTreeMap<String, Option<&'static str>>,
}

impl DiskNow {
    /// Of the configured workspace. Touches no disk yet.
    #[must_use]
    pub fn for_workspace(config: &ServeConfig) -> Self {
        let mut etv = config.etv;
        etv.timeout = etv.timeout.max(PATIENCE);
        let observer = Observer::new(
            &config.workspace,
            etv,
            Arc::new(TreeSitterGrammars),
            Arc::new(SystemClock),
        );
        Self {
            observer: Mutex::new(observer),
        }
    }

    /// Looks at every file that anything true is in and whose path begins so.
    pub(crate) fn changes_since_recorded(
        &self,
        reader: &LedgerReader,
        path_begins: &str,
    ) -> Result<DiskChanges, LedgerError> {
        let tracked = tracked_paths(reader, path_begins)?;
        let mut last_looks = Vec::new();
        reader.read_table(DISK, &mut |row| {
            let path = row.text_at(0);
            if tracked.contains(path) {
                let finding = row.text_at(1).to_owned();
                last_looks.push((RelPath::from_normalised(path), finding, file_of(row)));
            }
            ControlFlow::Continue(())
        })?;
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = DiskChanges::default();
        for looks in last_looks.chunks(FILES_AT_ONCE) {
            let checks = looks.iter().map(|(path, _, file)| DiskCheck {
                path: path.clone(),
                symbols: Vec::new(),
                last_seen: file.clone(),
            });
            let findings = observer.check(checks.collect());
            for ((path, finding, seen), now) in looks.iter().zip(findings) {
                let is_same = match &now {
                    DiskFinding::File(file) => {
                        seen.as_ref().is_some_and(|seen| seen.whole == file.whole)
                    }
                    DiskFinding::Missing => finding == "missing",
                    DiskFinding::Unreadable(failure) => finding == failure.as_str(),
                };
                if !is_same {
                    let failure = match now {
                        DiskFinding::Unreadable(failure) => Some(failure.as_str()),
                        DiskFinding::File(_) | DiskFinding::Missing => None,
                    };
                    changed.files.insert(path.as_str().to_owned(), failure);
                }
            }
        }
        for (path, truth) in truth_of(reader, &changed)? {
            let symbols = truth.keys().filter(|symbol| !symbol.is_empty());
            let check = DiskCheck {
                symbols: symbols.map(|symbol| Symbol::new(symbol)).collect(),
                path: RelPath::from_normalised(&path),
                last_seen: None,
            };
            let now = observer.check(vec![check]).pop();
            for (symbol, slice) in truth {
                let word = now
                    .as_ref()
                    .map_or("unreadable", |now| word_for_held(now, &symbol, slice));
                changed.entities.insert(entity_name(&path, &symbol), word);
            }
        }
        Ok(changed)
    }
}

/// The paths that anything true is in.
fn tracked_paths(
    reader: &LedgerReader,
    path_begins: &str,
) -> Result<BTreeSet<String>, LedgerError> {
    let mut paths = BTreeSet::new();
    reader.read_table(STATE_MAP, &mut |row| {
        let path = row.text_at(0);
        if path.starts_with(path_begins) && !paths.contains(path) {
            paths.insert(path.to_owned());
        }
        ControlFlow::Continue(())
    })?;
    Ok(paths)
}

/// Of each changed file, its entities by their symbols, the file's own being empty.
fn truth_of(
    reader: &LedgerReader,
    changed: &DiskChanges,
) -> Result<BTreeMap<String, BTreeMap<String, SliceHash>>, LedgerError> {
    let mut truth: BTreeMap<String, BTreeMap<String, SliceHash>> = BTreeMap::new();
    if changed.files.is_empty() {
        return Ok(truth);
    }
    reader.read_table(STATE_MAP, &mut |row| {
        let (path, symbol) = (row.text_at(0), row.text_at(1));
        if let Some(Cell::Hash(slice)) = row.get(2)
            && changed.files.contains_key(path)
        {
            let of_path = truth.entry(path.to_owned()).or_default();
            of_path.insert(symbol.to_owned(), SliceHash(*slice));
        }
        ControlFlow::Continue(())
    })?;
    Ok(truth)
}

/// What disk holds of an entity. A difference that the user knew of is one again: the file has changed since.
fn word_for_held(now: &DiskFinding, symbol: &str, truth: SliceHash) -> &'static str {
    let file = match now {
        DiskFinding::Missing => return "missing",
        DiskFinding::Unreadable(_) => return "unreadable",
        DiskFinding::File(file) => file,
    };
    let slice = match symbol {
        "" => Some(file.whole),
        symbol => {
            let mut slices = file.slices.iter();
            slices
                .find(|slice| slice.symbol.as_str() == symbol)
                .and_then(|slice| slice.slice)
        }
    };
    if slice == Some(truth) {
        "same"
    } else {
        "unknown"
    }
}

/// The file that was seen last, if one was, without its definitions: so its text isn't parsed again where it is the same.
fn file_of(row: &[Cell]) -> Option<DiskFile> {
    let Some(Cell::Hash(whole)) = row.get(2) else {
        return None;
    };
    let grammar = match row.get(3) {
        Some(Cell::Text(tag)) => tag.split_once(' '),
        _ => None,
    };
    Some(DiskFile {
        whole: SliceHash(*whole),
        slices: Vec::new(),
        definitions: 0,
        grammar: grammar.map(|(language, version)| GrammarTag {
            language: language.to_owned(),
            version: version.to_owned(),
        }),
    })
}
