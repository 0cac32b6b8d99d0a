//! Compares the truth with the disk at this moment (spec §15.1, §15.7), for a page; nothing is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFile, DiskFinding, ReadFailure};
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::disk::{DiskRow, PathFinding};
use tslp_projections::stale::{AcknowledgedRow, DiskDifference};
use tslp_projections::state_map::StateMapRow;
use tslp_replay::pending::DiskCheck;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_workspace::observer::{Observer, SystemClock, WorkspaceObserver as _};

use crate::config::ServeConfig;

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
    /// What disk holds now of each entity whose file has changed: `same`, `acknowledged`, `not_saved`, `unknown`, `missing` or
    /// `unreadable`.
    pub(crate) entities: BTreeMap<EntityId, &'static str>,
    /// The changed files; with the reason, if one can't be read now.
    pub(crate) files: BTreeMap<RelPath, Option<ReadFailure>>,
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
        reader.visit_rows(&mut |row: DiskRow| {
            if tracked.contains(&row.path) {
                last_looks.push(row);
            }
            ControlFlow::Continue(())
        })?;
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = DiskChanges::default();
        // In groups, so that the texts of a large tree are never in memory together.
        for looks in last_looks.chunks(FILES_AT_ONCE) {
            let checks = looks.iter().map(|row| DiskCheck {
                path: row.path.clone(),
                symbols: Vec::new(),
                last_seen: file_of(row),
            });
            let findings = observer.check(checks.collect());
            for (row, now) in looks.iter().zip(findings) {
                let is_same = match &now {
                    DiskFinding::File(file) => row.whole == Some(file.whole),
                    now => row.finding == PathFinding::from(now),
                };
                if !is_same {
                    let failure = match now {
                        DiskFinding::Unreadable(failure) => Some(failure),
                        DiskFinding::File(_) | DiskFinding::Missing => None,
                    };
                    changed.files.insert(row.path.clone(), failure);
                }
            }
        }
        for (path, truth) in truth_of(reader, &changed)? {
            let symbols = truth.keys().filter_map(|entity| entity.symbol.clone());
            let check = DiskCheck {
                symbols: symbols.collect(),
                path,
                last_seen: None,
            };
            let now = observer.check(vec![check]).pop();
            for (entity, truth) in truth {
                let word = now.as_ref().map_or("unreadable", |now| {
                    word_for_held(now, entity.symbol.as_ref(), &truth)
                });
                changed.entities.insert(entity, word);
            }
        }
        Ok(changed)
    }
}

/// The paths that anything true is in.
fn tracked_paths(
    reader: &LedgerReader,
    path_begins: &str,
) -> Result<BTreeSet<RelPath>, LedgerError> {
    let mut paths = BTreeSet::new();
    reader.visit_rows(&mut |row: StateMapRow| {
        let path = row.entity.path;
        if path.as_str().starts_with(path_begins) {
            paths.insert(path);
        }
        ControlFlow::Continue(())
    })?;
    Ok(paths)
}

/// What is true of an entity, and how disk may differ from it without a contradiction.
struct TrueSlice {
    slice: SliceHash,
    origin: Origin,
    /// What disk held when it became true, if that was something else.
    acknowledged: Option<Option<SliceHash>>,
}

/// The true slices of each changed file.
fn truth_of(
    reader: &LedgerReader,
    changed: &DiskChanges,
) -> Result<BTreeMap<RelPath, BTreeMap<EntityId, TrueSlice>>, LedgerError> {
    let mut truth: BTreeMap<RelPath, BTreeMap<EntityId, TrueSlice>> = BTreeMap::new();
    if changed.files.is_empty() {
        return Ok(truth);
    }
    reader.visit_rows(&mut |row: StateMapRow| {
        if changed.files.contains_key(&row.entity.path) {
            let of_path = truth.entry(row.entity.path.clone()).or_default();
            let true_slice = TrueSlice {
                slice: row.artifact,
                origin: row.origin,
                acknowledged: None,
            };
            of_path.insert(row.entity, true_slice);
        }
        ControlFlow::Continue(())
    })?;
    reader.visit_rows(&mut |row: AcknowledgedRow| {
        let of_path = truth.get_mut(&row.entity.path);
        if let Some(known) = of_path.and_then(|of_path| of_path.get_mut(&row.entity)) {
            known.acknowledged = Some(row.disk_held);
        }
        ControlFlow::Continue(())
    })?;
    Ok(truth)
}

/// What disk holds of an entity.
fn word_for_held(now: &DiskFinding, symbol: Option<&Symbol>, truth: &TrueSlice) -> &'static str {
    let file = match now {
        DiskFinding::Missing => return "missing",
        DiskFinding::Unreadable(_) => return "unreadable",
        DiskFinding::File(file) => file,
    };
    let slice = match symbol {
        None => Some(file.whole),
        Some(symbol) => {
            let mut slices = file.slices.iter();
            slices
                .find(|slice| slice.symbol == *symbol)
                .and_then(|slice| slice.slice)
        }
    };
    if slice == Some(truth.slice) {
        return "same";
    }
    let difference = match truth.origin {
        _ if truth.acknowledged != Some(slice) => DiskDifference::Unknown,
        Origin::Model => DiskDifference::Unsaved,
        Origin::User => DiskDifference::Acknowledged,
    };
    difference.as_str()
}

/// The file that was seen last, if one was, without its definitions: so its text isn't parsed again where it is the same.
fn file_of(row: &DiskRow) -> Option<DiskFile> {
    Some(DiskFile {
        whole: row.whole?,
        slices: Vec::new(),
        definitions: 0,
        grammar: row.grammar.clone(),
    })
}
