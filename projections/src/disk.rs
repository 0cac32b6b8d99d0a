//! The last observation of disk for each path (spec §15). The State Map keeps it, together with what is true.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskObserved, DiskSlice, FileAuthor, ReadFailure};
use tslp_core::extract::GrammarTag;
use tslp_core::hash::SliceHash;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_core::path::RelPath;

use crate::row::UnfitRow;

row! {
    /// `disk`: the last observation of each path.
    pub struct DiskRow in table "disk", version 5;
    key {
        /// The path.
        path: RelPath,
    }
    values {
        /// What is there; of a file the slices of symbols that were looked for, but for those that are true.
        finding: DiskFinding,
        /// Whether a file was there at this or an earlier observation.
        was_there: bool,
        /// Whose change it is.
        author: FileAuthor,
        /// The observation.
        seq: Seq,
    }
}

crate::stored_cells!(DiskFinding, FileAuthor);

impl DiskRow {
    /// The hash of the whole file, if there was one.
    #[must_use]
    pub const fn whole(&self) -> Option<SliceHash> {
        match &self.finding {
            DiskFinding::File(file) => Some(file.whole),
            DiskFinding::Missing | DiskFinding::Unreadable(_) => None,
        }
    }

    /// The word on pages for a path of which disk holds nothing that is known to differ.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match &self.finding {
            DiskFinding::File(_) => "same",
            DiskFinding::Missing => "missing",
            DiskFinding::Unreadable(failure) => failure.as_str(),
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
        let is_there = matches!(observed.finding, DiskFinding::File(_));
        let was_there = is_there || self.was_there(id);
        self.put(id, &observed.finding, (observed.author, seq), was_there)
    }

    /// Puts a look in the place of the one before, if there was one.
    fn put(
        &mut self,
        id: u32,
        finding: &DiskFinding,
        (author, seq): (FileAuthor, Seq),
        was_there: bool,
    ) -> bool {
        let (found, slices) = match finding {
            DiskFinding::File(file) => (
                Found::File {
                    whole: file.whole,
                    definitions: file.definitions,
                    grammar: file.grammar.as_ref().map(|grammar| self.grammar(grammar)),
                },
                &*file.slices,
            ),
            DiskFinding::Missing => (Found::Missing, &[][..]),
            DiskFinding::Unreadable(failure) => (Found::Unreadable(*failure), &[][..]),
        };
        let slices = slices.iter().map(|it| (it.symbol.clone(), it.slice));
        let look = LastLook {
            slices: slices.collect(),
            found,
            seq,
            was_there,
            author,
        };
        let at = id as usize;
        if self.looks.len() <= at {
            self.looks.resize_with(at + 1, || None);
        }
        self.looks[at].replace(look).is_some()
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
    pub(crate) fn restore_row(&mut self, id: u32, row: DiskRow) -> Result<(), UnfitRow> {
        match self.put(id, &row.finding, (row.author, row.seq), row.was_there) {
            false => Ok(()),
            true => Err(UnfitRow("a path was looked at last twice")),
        }
    }

    /// The row of a path that was looked at.
    pub(crate) fn row(&self, id: u32, path: &RelPath) -> Option<DiskRow> {
        let look = self.look(id)?;
        let mut finding = self.finding(id)?.into();
        if let DiskFinding::File(file) = &mut finding {
            let slices = look.slices.iter().map(|(symbol, slice)| DiskSlice {
                symbol: symbol.clone(),
                slice: *slice,
            });
            file.slices.extend(slices);
        }
        Some(DiskRow {
            path: path.clone(),
            finding,
            was_there: look.was_there,
            author: look.author,
            seq: look.seq,
        })
    }
}
