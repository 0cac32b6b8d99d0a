//! A disk in memory, observed as the real one is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, ReadFailure};
use tslp_core::extract::{Extraction, GrammarTag, Grammars};
use tslp_core::hash::SliceHash;
use tslp_core::ids::UnixMillis;
use tslp_core::path::RelPath;
use tslp_core::redact;
use tslp_core::scope::OffRules;
use tslp_core::slice;
use tslp_decide::direct::FileText;
use tslp_grammars::TreeSitterGrammars;
use tslp_replay::pending::{DiskCheck, FileFinding, OffFile};

/// An entry of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskEntry {
    /// A file with this text.
    File(String),
    /// A file that can't be read.
    Locked,
}

/// Files by path.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    entries: BTreeMap<RelPath, DiskEntry>,
    /// When each was changed.
    changed: BTreeMap<RelPath, UnixMillis>,
    now: UnixMillis,
    /// The contents of files that were read since they changed.
    known_contents: RefCell<BTreeMap<RelPath, Arc<FileContents>>>,
}

/// The parts of a file's contents that checks ask for.
#[derive(Debug)]
struct FileContents {
    whole: SliceHash,
    slices: BTreeMap<Symbol, SliceHash>,
    definitions: u32,
    grammar: Option<GrammarTag>,
}

impl Disk {
    /// Puts an entry at a path.
    pub fn put(&mut self, path: RelPath, entry: DiskEntry) {
        self.changed.insert(path.clone(), self.now);
        self.known_contents.get_mut().remove(&path);
        self.entries.insert(path, entry);
    }

    /// What changes from here on changes at this time.
    pub const fn set_time(&mut self, now: UnixMillis) {
        self.now = now;
    }

    /// When a path was changed.
    #[must_use]
    pub fn changed_at(&self, path: &RelPath) -> UnixMillis {
        self.changed.get(path).copied().unwrap_or_default()
    }

    /// Deletes a path.
    pub fn delete(&mut self, path: &RelPath) {
        self.known_contents.get_mut().remove(path);
        self.entries.remove(path);
    }

    /// The entry at a path.
    #[must_use]
    pub fn at(&self, path: &RelPath) -> Option<&DiskEntry> {
        self.entries.get(path)
    }

    /// The text that the observer would read of a file that the user accepts.
    #[must_use]
    pub fn read_text(&self, path: &RelPath) -> FileText {
        self.at(path).map(|entry| match entry {
            DiskEntry::File(text) => Ok(text.clone()),
            DiskEntry::Locked => Err(ReadFailure::Denied),
        })
    }

    /// The files that are off by these rules, and after them all others.
    #[must_use]
    pub fn off_files(&self, rules: &OffRules) -> Vec<OffFile> {
        let is_off = |path: &RelPath| rules.is_off(path.as_str());
        let entries = self.entries.iter().filter(|(path, _)| is_off(path));
        let entries = entries.chain(self.entries.iter().filter(|(path, _)| !is_off(path)));
        let files = entries.filter_map(|(path, entry)| match entry {
            DiskEntry::File(text) => Some(OffFile {
                path: path.clone(),
                text: text.clone(),
                is_code: TreeSitterGrammars.language_of_path(path).is_some(),
            }),
            DiskEntry::Locked => None,
        });
        files.collect()
    }

    /// The observer's answers to these checks.
    #[must_use]
    pub fn findings(&self, checks: &[DiskCheck]) -> Vec<FileFinding> {
        checks
            .iter()
            .map(|check| {
                let finding = match self.at(&check.path) {
                    None => DiskFinding::Missing,
                    Some(DiskEntry::Locked) => DiskFinding::Unreadable(ReadFailure::Denied),
                    Some(DiskEntry::File(text)) => DiskFinding::File(fingerprint(
                        check,
                        &self.file_contents(&check.path, text),
                        self.changed_at(&check.path),
                    )),
                };
                (check.path.clone(), finding)
            })
            .collect()
    }

    fn file_contents(&self, path: &RelPath, text: &str) -> Arc<FileContents> {
        let mut known = self.known_contents.borrow_mut();
        let contents = known
            .entry(path.clone())
            .or_insert_with(|| Arc::new(read_contents(path, &redact::recordable(text.as_bytes()))));
        Arc::clone(contents)
    }
}

/// The definitions in a text, if there is a parser for its path.
#[must_use]
pub fn extraction_of(path: &RelPath, bytes: &[u8]) -> Option<Extraction> {
    let language = TreeSitterGrammars.language_of_path(path)?;
    TreeSitterGrammars.extract(language, bytes).ok()
}

fn read_contents(path: &RelPath, bytes: &[u8]) -> FileContents {
    let extraction = extraction_of(path, bytes);
    let slices = extraction
        .as_ref()
        .map_or_else(BTreeMap::new, |extraction| {
            let slices = extraction.slices(bytes).into_iter();
            slices
                .map(|(symbol, slice)| (symbol.clone(), slice))
                .collect()
        });
    FileContents {
        whole: slice::hash_of_whole(bytes),
        slices,
        definitions: extraction.as_ref().map_or(0, |extraction| {
            u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX)
        }),
        grammar: extraction.map(|extraction| extraction.grammar),
    }
}

fn fingerprint(check: &DiskCheck, contents: &FileContents, changed_at: UnixMillis) -> DiskFile {
    let asked = check.symbols.iter().map(|symbol| DiskSlice {
        symbol: symbol.clone(),
        slice: contents.slices.get(symbol).copied(),
    });
    DiskFile {
        whole: contents.whole,
        slices: match contents.grammar {
            Some(_) => asked.collect(),
            None => Vec::new(),
        },
        definitions: contents.definitions,
        grammar: contents.grammar.clone(),
        changed_at,
    }
}
