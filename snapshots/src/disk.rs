//! A disk in memory, looked at as the observer of the real one does.

use std::collections::BTreeMap;

use tslp_core::decide::direct::FileText;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, ReadFailure};
use tslp_core::extract::{Extraction, Grammars};
use tslp_core::path::RelPath;
use tslp_core::slice;
use tslp_grammars::TreeSitterGrammars;
use tslp_replay::engine::{DiskCheck, Finding};

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file with this text.
    File(String),
    /// A file that can't be read.
    Locked,
}

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    places: BTreeMap<RelPath, Place>,
}

impl Disk {
    /// Puts something at a path.
    pub fn put(&mut self, path: RelPath, place: Place) {
        self.places.insert(path, place);
    }

    /// Deletes what stands at a path.
    pub fn delete(&mut self, path: &RelPath) {
        self.places.remove(path);
    }

    /// What stands at a path.
    #[must_use]
    pub fn at(&self, path: &RelPath) -> Option<&Place> {
        self.places.get(path)
    }

    /// What the observer would read of a file that the user accepts.
    #[must_use]
    pub fn text(&self, path: &RelPath) -> FileText {
        self.at(path).map(|place| match place {
            Place::File(text) => Ok(text.clone()),
            Place::Locked => Err(ReadFailure::Denied),
        })
    }

    /// What the observer would say to these checks.
    #[must_use]
    pub fn look(&self, checks: &[DiskCheck]) -> Vec<Finding> {
        checks
            .iter()
            .map(|check| {
                let finding = match self.at(&check.path) {
                    None => DiskFinding::Missing,
                    Some(Place::Locked) => DiskFinding::Unreadable(ReadFailure::Denied),
                    Some(Place::File(text)) => {
                        DiskFinding::File(fingerprint(check, text.as_bytes()))
                    }
                };
                (check.path.clone(), finding)
            })
            .collect()
    }
}

/// What a text defines, if its path names a language that is read here.
#[must_use]
pub fn extraction_of(path: &RelPath, bytes: &[u8]) -> Option<Extraction> {
    let language = TreeSitterGrammars.language_of_path(path)?;
    TreeSitterGrammars.extract(language, bytes).ok()
}

fn fingerprint(check: &DiskCheck, bytes: &[u8]) -> DiskFile {
    let whole = slice::hash_of(bytes);
    let Some(extraction) = extraction_of(&check.path, bytes) else {
        return DiskFile {
            whole,
            slices: Vec::new(),
            definitions: 0,
            grammar: None,
        };
    };
    let slices = extraction.slices(bytes);
    DiskFile {
        whole,
        slices: check
            .symbols
            .iter()
            .map(|symbol| DiskSlice {
                symbol: symbol.clone(),
                slice: slices.get(symbol).copied(),
            })
            .collect(),
        definitions: u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX),
        grammar: Some(extraction.grammar.clone()),
    }
}
