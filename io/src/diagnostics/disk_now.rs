//! Compares the truth with the disk at this moment (spec §15.1, §15.7), for a page; nothing is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tslp_core::artifact::Origin;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{DiskFile, DiskFinding, ReadFailure};
use tslp_core::extract::Grammars as _;
use tslp_core::hash::SliceHash;
use tslp_core::path::RelPath;
use tslp_core::slice;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::disk::DiskRow;
use tslp_projections::stale::{AcknowledgedRow, DiskDifference};
use tslp_replay::pending::DiskCheck;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_workspace::observer::{Observer, SystemClock, WorkspaceObserver as _};

use crate::config::settings::Settings;

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
    pub fn for_workspace(config: &Settings) -> Self {
        let mut etv = config.etv();
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

    /// A file's text now, if it has one that may be read.
    pub(crate) fn text(&self, path: &RelPath) -> Option<String> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        observer.read(path)?.ok()
    }

    /// The code that the workspace's file holds of an entity; none of it where there is no file. `None` if it can't be read there.
    pub(crate) fn code_now(&self, entity: &EntityId) -> Option<String> {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match observer.read(&entity.path) {
            Some(text) => text.ok()?,
            None => return Some(String::new()),
        };
        drop(observer);
        let Some(symbol) = &entity.symbol else {
            return Some(text);
        };
        let language = TreeSitterGrammars.language_of_path(&entity.path)?;
        let found = TreeSitterGrammars.extract(language, text.as_bytes()).ok()?;
        let own = found.definitions.iter().filter(|it| it.symbol == *symbol);
        let spans: Vec<_> = own.map(|it| it.span).collect();
        let code = slice::joined(text.as_bytes(), &spans);
        Some(String::from_utf8_lossy(&code).into_owned())
    }

    /// Looks at those of these files, in which something is true, that were looked at before.
    pub(crate) fn changes_since_recorded(
        &self,
        reader: &LedgerReader,
        files: &BTreeSet<RelPath>,
    ) -> Result<DiskChanges, LedgerError> {
        let mut last_looks = Vec::new();
        for path in files {
            last_looks.extend(reader.find_row::<DiskRow>((path.clone(),))?);
        }
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
                    DiskFinding::File(file) => row.whole() == Some(file.whole),
                    now => row.finding == *now,
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
    for path in changed.files.keys() {
        let of_path = truth.entry(path.clone()).or_default();
        for truth in reader.true_entities_in(path)? {
            let true_slice = TrueSlice {
                slice: truth.slice,
                origin: truth.origin,
                acknowledged: None,
            };
            of_path.insert(truth.entity, true_slice);
        }
        reader.visit_rows_from(path.as_str(), &mut |row: AcknowledgedRow| {
            if row.entity.path != *path {
                return ControlFlow::Break(());
            }
            if let Some(known) = of_path.get_mut(&row.entity) {
                known.acknowledged = Some(row.disk_held);
            }
            ControlFlow::Continue(())
        })?;
    }
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
        Origin::Unattributed | Origin::User => DiskDifference::Acknowledged,
    };
    difference.as_str()
}

/// The file that was seen last, if one was, without its definitions: so its text isn't parsed again where it is the same.
fn file_of(row: &DiskRow) -> Option<DiskFile> {
    match &row.finding {
        DiskFinding::File(file) => Some(DiskFile {
            slices: Vec::new(),
            ..file.clone()
        }),
        DiskFinding::Missing | DiskFinding::Unreadable(_) => None,
    }
}
