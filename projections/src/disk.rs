//! The last observation of disk for each path (spec §15). The State Map keeps it, together with what is true.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::str;

use tslp_core::artifact::Origin;
use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskObserved, FileAuthor, ReadFailure};
use tslp_core::extract::GrammarTag;
use tslp_core::hash::SliceHash;
use tslp_core::ids::{EpisodeId, Seq, UnixMillis};
use tslp_core::path::RelPath;

use crate::packed::{items_in, put_item};
use crate::row::{Cell, UnfitRow};
use crate::table::{ColumnType, Text, Value};

row! {
    /// `disk`: the last observation of each path.
    pub struct DiskRow in table "disk", version 4;
    key {
        /// The path.
        path: RelPath,
    }
    values {
        /// What is there.
        finding: PathFinding,
        /// The whole file, if there is one.
        whole: Option<SliceHash>,
        /// The grammar that read it, if it could be parsed.
        grammar: Option<GrammarTag>,
        /// How many top-level definitions it has.
        definitions: u32,
        /// The slices of symbols that were looked for, but for those that are true, packed.
        slices: Arc<[u8]>,
        /// Whether a file was there at this or an earlier observation.
        was_there: bool,
        /// Whose change it is.
        origin: Origin,
        /// The reply whose call made it.
        reply: EpisodeId,
        /// The observation.
        seq: Seq,
    }
}

/// What an observation found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFinding {
    /// A file.
    File,
    /// Nothing.
    Missing,
    /// Something that can't be read.
    Unreadable(ReadFailure),
}

impl PathFinding {
    /// The word for it in rows and on pages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Missing => "missing",
            Self::Unreadable(failure) => failure.as_str(),
        }
    }
}

impl Cell for PathFinding {
    const KIND: ColumnType = Text::KIND;

    fn into_value(self) -> Value {
        self.as_str().into()
    }

    fn from_value(value: &Value) -> Option<Self> {
        match &*Text::from_value(value)? {
            "file" => Some(Self::File),
            "missing" => Some(Self::Missing),
            word => ReadFailure::of_word(word).map(Self::Unreadable),
        }
    }
}

impl From<&DiskFinding> for PathFinding {
    fn from(finding: &DiskFinding) -> Self {
        match finding {
            DiskFinding::File(_) => Self::File,
            DiskFinding::Missing => Self::Missing,
            DiskFinding::Unreadable(failure) => Self::Unreadable(*failure),
        }
    }
}

/// The last observation of a path, without slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastFinding<'s> {
    /// A file.
    File(LastFile<'s>),
    /// Nothing.
    Missing,
    /// Something that can't be read.
    Unreadable(ReadFailure),
}

/// A file as it was observed last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastFile<'s> {
    /// Hash of the whole file's canonical form.
    pub whole: SliceHash,
    /// How many top-level definitions it has.
    pub definitions: u32,
    /// The grammar that read it, if it could be parsed.
    pub grammar: Option<&'s GrammarTag>,
}

impl From<LastFinding<'_>> for DiskFinding {
    fn from(finding: LastFinding<'_>) -> Self {
        match finding {
            LastFinding::File(file) => Self::File(DiskFile {
                whole: file.whole,
                slices: Vec::new(),
                definitions: file.definitions,
                grammar: file.grammar.cloned(),
                changed_at: UnixMillis(0),
            }),
            LastFinding::Missing => Self::Missing,
            LastFinding::Unreadable(failure) => Self::Unreadable(failure),
        }
    }
}

impl<'f> From<&'f DiskFinding> for LastFinding<'f> {
    fn from(finding: &'f DiskFinding) -> Self {
        match finding {
            DiskFinding::File(file) => Self::File(LastFile {
                whole: file.whole,
                definitions: file.definitions,
                grammar: file.grammar.as_ref(),
            }),
            DiskFinding::Missing => Self::Missing,
            DiskFinding::Unreadable(failure) => Self::Unreadable(*failure),
        }
    }
}

/// Slices of a file's symbols that were looked for; `None` of those that it doesn't define.
pub(crate) type LookedFor = BTreeMap<Symbol, Option<SliceHash>>;

/// Last observations, by the number of their file in the State Map.
#[derive(Default)]
pub(crate) struct Disk {
    looks: Vec<Option<LastLook>>,
    /// Few: each is a version of a grammar.
    grammars: Vec<GrammarTag>,
}

struct LastLook {
    found: Found,
    /// The slices of symbols that were looked for, but for those that are true.
    slices: LookedFor,
    seq: Seq,
    /// Whether a file was ever there.
    was_there: bool,
    author: FileAuthor,
}

enum Found {
    File {
        whole: SliceHash,
        definitions: u32,
        /// Its place in [`Disk::grammars`].
        grammar: Option<u32>,
    },
    Missing,
    Unreadable(ReadFailure),
}

impl Disk {
    /// Takes what a look has found. Returns whether there was a look before.
    pub(crate) fn observed(&mut self, id: u32, observed: &DiskObserved, seq: Seq) -> bool {
        let DiskObserved {
            finding, author, ..
        } = observed;
        let slices = match finding {
            DiskFinding::File(file) => &*file.slices,
            DiskFinding::Missing | DiskFinding::Unreadable(_) => &[],
        };
        let slices = slices.iter().map(|it| (it.symbol.clone(), it.slice));
        let is_there = matches!(finding, DiskFinding::File(_));
        let look = LastLook {
            slices: slices.collect(),
            found: self.found(finding.into()),
            seq,
            was_there: is_there || self.was_there(id),
            author: *author,
        };
        self.put(id, look)
    }

    /// Puts a look in the place of the one before, if there was one.
    fn put(&mut self, id: u32, look: LastLook) -> bool {
        let at = id as usize;
        if self.looks.len() <= at {
            self.looks.resize_with(at + 1, || None);
        }
        self.looks[at].replace(look).is_some()
    }

    fn found(&mut self, finding: LastFinding<'_>) -> Found {
        match finding {
            LastFinding::File(file) => Found::File {
                whole: file.whole,
                definitions: file.definitions,
                grammar: file.grammar.map(|grammar| self.grammar(grammar)),
            },
            LastFinding::Missing => Found::Missing,
            LastFinding::Unreadable(failure) => Found::Unreadable(failure),
        }
    }

    fn grammar(&mut self, grammar: &GrammarTag) -> u32 {
        let known = self.grammars.iter().position(|known| known == grammar);
        let at = known.unwrap_or_else(|| {
            self.grammars.push(grammar.clone());
            self.grammars.len() - 1
        });
        u32::try_from(at).expect("they are few")
    }

    fn look(&self, id: u32) -> Option<&LastLook> {
        self.looks.get(id as usize)?.as_ref()
    }

    /// The slices that were looked for, but for those that their entries say, for giving and taking some.
    pub(crate) fn slices_mut(&mut self, id: u32) -> Option<&mut LookedFor> {
        Some(&mut self.looks.get_mut(id as usize)?.as_mut()?.slices)
    }

    /// The slices that nobody has taken, by symbol.
    pub(crate) fn slices(&self, id: u32) -> impl Iterator<Item = (&Symbol, &Option<SliceHash>)> {
        self.look(id).into_iter().flat_map(|look| &look.slices)
    }

    /// A symbol's slice, unless somebody has taken it.
    pub(crate) fn slice(&self, id: u32, symbol: &Symbol) -> Option<Option<SliceHash>> {
        self.look(id)?.slices.get(symbol).copied()
    }

    /// The last observation of the file.
    pub(crate) fn finding(&self, id: u32) -> Option<LastFinding<'_>> {
        Some(match self.look(id)?.found {
            Found::File {
                whole,
                definitions,
                grammar,
            } => LastFinding::File(LastFile {
                whole,
                definitions,
                grammar: grammar.map(|at| &self.grammars[at as usize]),
            }),
            Found::Missing => LastFinding::Missing,
            Found::Unreadable(failure) => LastFinding::Unreadable(failure),
        })
    }

    /// Whether any observation found a file at the path.
    pub(crate) fn was_there(&self, id: u32) -> bool {
        self.look(id).is_some_and(|look| look.was_there)
    }

    /// Who made it so.
    pub(crate) fn author(&self, id: u32) -> Option<FileAuthor> {
        self.look(id).map(|look| look.author)
    }

    /// The event of that observation.
    pub(crate) fn seen_since(&self, id: u32) -> Option<Seq> {
        self.look(id).map(|look| look.seq)
    }

    /// Takes a row back.
    pub(crate) fn restore_row(&mut self, id: u32, row: &DiskRow) -> Result<(), UnfitRow> {
        let unfit = UnfitRow("a look has found what none can");
        let finding = match (row.finding, row.whole) {
            (PathFinding::File, Some(whole)) => LastFinding::File(LastFile {
                whole,
                definitions: row.definitions,
                grammar: row.grammar.as_ref(),
            }),
            (PathFinding::Missing, None) => LastFinding::Missing,
            (PathFinding::Unreadable(failure), None) => LastFinding::Unreadable(failure),
            (PathFinding::File, None) | (_, Some(_)) => return Err(unfit),
        };
        let mut slices = LookedFor::new();
        for item in items_in(&row.slices) {
            let (symbol, slice) = item.ok_or(unfit)?;
            let symbol = str::from_utf8(symbol).map_err(|_| unfit)?;
            let slice = match slice {
                [] => None,
                slice => Some(SliceHash(slice.try_into().map_err(|_| unfit)?)),
            };
            slices.insert(Symbol::new(symbol), slice);
        }
        let look = LastLook {
            found: self.found(finding),
            slices,
            seq: row.seq,
            was_there: row.was_there,
            author: FileAuthor {
                origin: row.origin,
                reply: row.reply,
            },
        };
        match self.put(id, look) {
            false => Ok(()),
            true => Err(UnfitRow("a path was looked at last twice")),
        }
    }

    /// The row of a path that was looked at.
    pub(crate) fn row(&self, id: u32, path: &RelPath) -> Option<DiskRow> {
        let look = self.look(id)?;
        let (finding, file) = match self.finding(id)? {
            LastFinding::File(file) => (PathFinding::File, Some(file)),
            LastFinding::Missing => (PathFinding::Missing, None),
            LastFinding::Unreadable(failure) => (PathFinding::Unreadable(failure), None),
        };
        let mut slices = Vec::new();
        for (symbol, slice) in &look.slices {
            let slice = slice.as_ref().map_or(&[][..], |slice| &slice.0);
            put_item(&mut slices, symbol.as_str().as_bytes(), slice);
        }
        Some(DiskRow {
            path: path.clone(),
            finding,
            whole: file.map(|file| file.whole),
            grammar: file.and_then(|file| file.grammar.cloned()),
            definitions: file.map_or(0, |file| file.definitions),
            slices: slices.into(),
            was_there: look.was_there,
            origin: look.author.origin,
            reply: look.author.reply,
            seq: look.seq,
        })
    }
}
