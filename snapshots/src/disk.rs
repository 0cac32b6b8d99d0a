//! A disk in memory, observed as the real one is.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, PlaceKind, PlaceObserved, ReadFailure};
use tslp_core::extract::{Extraction, GrammarTag, Grammars};
use tslp_core::hash::SliceHash;
use tslp_core::ids::UnixMillis;
use tslp_core::name_hash::{NameHash, may_name};
use tslp_core::path::{self, RelPath};
use tslp_core::redact;
use tslp_core::scope::OffRules;
use tslp_core::slice;
use tslp_decide::scope::place::PlaceFinding;
use tslp_decide::user::direct::FileText;
use tslp_grammars::TreeSitterGrammars;
use tslp_replay::pending::{DiskCheck, FileFinding, OffFile};

/// The workspace of every story; a policy may name another.
pub const ROOT: &str = "/work/space";

/// An entry of the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskEntry {
    /// A file with this text.
    File(String),
    /// A file that can't be read.
    Locked,
    /// A link to a file or folder of the workspace.
    Link(String),
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
    hidden: Option<BTreeSet<NameHash>>,
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
            DiskEntry::Link(_) => Err(ReadFailure::Escapes),
        })
    }

    /// Where each of some absolute paths leads.
    #[must_use]
    pub fn places(&self, asked: Vec<String>) -> Vec<PlaceFinding> {
        asked.iter().map(|written| self.place(written)).collect()
    }

    /// Where an absolute path leads.
    #[must_use]
    pub fn place(&self, written: &str) -> PlaceFinding {
        let seen = |written: &str, place, ours: &str| PlaceObserved {
            written: written.into(),
            place,
            ours: ours.into(),
        };
        let is_there = |path: &str| self.entries.contains_key(&RelPath::from_normalised(path));
        let Some(path) = path::moved(written, ROOT, "") else {
            let ends = written.match_indices('/').map(|(at, _)| &written[at + 1..]);
            let ends = ends.filter(|end| is_there(end));
            let first = written[1..].split('/').next().unwrap_or_default();
            let (name, place) = match first {
                "work" => (written, PlaceKind::Elsewhere),
                _ => (&written[..first.len() + 1], PlaceKind::Nowhere),
            };
            return PlaceFinding {
                asked: written.into(),
                seen: seen(name, place, ""),
                candidates: ends.map(RelPath::from_normalised).collect(),
            };
        };
        let link = path::with_folders(&path).find_map(|name| {
            let target = self.aliases_of(name)?;
            Some(seen(&format!("{ROOT}/{name}"), PlaceKind::Beneath, target))
        });
        let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        let ends = ends.filter(|end| !is_there(&path) && is_there(end));
        PlaceFinding {
            asked: written.into(),
            candidates: ends.map(RelPath::from_normalised).collect(),
            seen: link.unwrap_or_else(|| seen(written, PlaceKind::Beneath, &path)),
        }
    }

    fn aliases_of(&self, name: &str) -> Option<&str> {
        match self.entries.get(&RelPath::from_normalised(name))? {
            DiskEntry::Link(target) => Some(target),
            DiskEntry::File(_) | DiskEntry::Locked => None,
        }
    }

    /// All links.
    #[must_use]
    pub fn aliases(&self) -> Vec<PlaceObserved> {
        let names = self.entries.keys().map(RelPath::as_str);
        let links = names.filter_map(|name| Some((name, self.aliases_of(name)?)));
        let links = links.map(|(name, target)| PlaceObserved {
            written: format!("{ROOT}/{name}"),
            place: PlaceKind::Beneath,
            ours: target.into(),
        });
        links.collect()
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
            DiskEntry::Locked | DiskEntry::Link(_) => None,
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
                    Some(DiskEntry::Link(_)) => DiskFinding::Unreadable(ReadFailure::Escapes),
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
        hidden: extraction
            .as_ref()
            .and_then(|extraction| extraction.hidden_words(bytes)),
        slices,
        definitions: extraction.as_ref().map_or(0, |extraction| {
            u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX)
        }),
        grammar: extraction.map(|extraction| extraction.grammar),
    }
}

fn fingerprint(check: &DiskCheck, contents: &FileContents, changed_at: UnixMillis) -> DiskFile {
    let is_hidden = |symbol: &Symbol| {
        let hidden = contents.hidden.as_ref();
        !contents.slices.contains_key(symbol)
            && hidden.is_some_and(|words| may_name(symbol, |it| words.contains(&it)))
    };
    let asked = check.symbols.iter().filter(|it| !is_hidden(it));
    let asked = asked.map(|symbol| DiskSlice {
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
