//! Fingerprints of files: hashes of the whole and of each definition, without text.

use std::collections::BTreeSet;
use std::sync::Arc;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskSlice};
use tslp_core::extract::{Extraction, GrammarTag};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::UnixMillis;
use tslp_core::name_hash::{NameHash, may_name};
use tslp_core::slice;

/// A symbol's name in 16 bytes. Names are only ever looked up within one file.
type SymbolKey = [u8; 16];

/// Hashes of one file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// The hash of the bytes as they are.
    pub(super) raw: ArtifactHash,
    whole: SliceHash,
    parsed: Option<DefinitionHashes>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DefinitionHashes {
    grammar: Arc<GrammarTag>,
    definitions: u32,
    /// Sorted by key; `None` of a symbol that the file doesn't define.
    slices: Box<[(SymbolKey, Option<SliceHash>)]>,
    /// Whether these are all of the file's definitions that can be read.
    is_complete: bool,
    /// The sorted words of a broken file, which may define what they name.
    hidden: Option<Box<[NameHash]>>,
}

impl Fingerprint {
    /// Hashes `bytes`, whose address is `raw`.
    pub(super) fn of(raw: ArtifactHash, bytes: &[u8], extraction: Option<&Extraction>) -> Self {
        Self {
            raw,
            whole: slice::hash_of_whole(bytes),
            parsed: extraction.map(|extraction| DefinitionHashes::of_extraction(bytes, extraction)),
        }
    }

    /// The fingerprint from an earlier observation; `None` if that was of another text. It knows only the symbols of that
    /// observation.
    pub(super) fn last_seen(raw: ArtifactHash, bytes: &[u8], seen: &DiskFile) -> Option<Self> {
        let grammar = Arc::new(seen.grammar.clone()?);
        let whole = slice::hash_of_whole(bytes);
        let slices = seen.slices.iter();
        let slices = slices.map(|seen| (symbol_key(&seen.symbol), seen.slice));
        (whole == seen.whole).then(|| Self {
            raw,
            whole,
            parsed: Some(DefinitionHashes {
                grammar,
                definitions: seen.definitions,
                slices: sorted_slices(slices),
                is_complete: false,
                hidden: None,
            }),
        })
    }

    /// The number of its slice hashes.
    pub(super) fn slice_count(&self) -> usize {
        self.parsed.as_ref().map_or(0, |parsed| parsed.slices.len())
    }

    /// The observation of the file with these symbols; `None` if one of them isn't known.
    pub(super) fn disk_file(&self, symbols: &[Symbol]) -> Option<DiskFile> {
        let Some(parsed) = &self.parsed else {
            return Some(DiskFile {
                whole: self.whole,
                slices: Vec::new(),
                definitions: 0,
                grammar: None,
                changed_at: UnixMillis(0),
            });
        };
        // A set: findings are compared and recorded, so each symbol is there once and in order.
        let wanted: BTreeSet<&Symbol> = symbols.iter().collect();
        let known = wanted.into_iter().filter(|it| !parsed.hides(it));
        let slices = known.map(|symbol| {
            Some(DiskSlice {
                symbol: symbol.clone(),
                slice: parsed.slice(symbol)?,
            })
        });
        Some(DiskFile {
            whole: self.whole,
            slices: slices.collect::<Option<Vec<DiskSlice>>>()?,
            definitions: parsed.definitions,
            grammar: Some((*parsed.grammar).clone()),
            changed_at: UnixMillis(0),
        })
    }

    /// Shares the grammar's tag with an earlier fingerprint, since few tags serve thousands of files.
    pub(super) fn share_tag(&mut self, known: &mut Vec<Arc<GrammarTag>>) {
        let Some(parsed) = &mut self.parsed else {
            return;
        };
        match known.iter().find(|tag| **tag == parsed.grammar) {
            Some(tag) => parsed.grammar = Arc::clone(tag),
            None => known.push(Arc::clone(&parsed.grammar)),
        }
    }
}

impl DefinitionHashes {
    fn of_extraction(bytes: &[u8], extraction: &Extraction) -> Self {
        let slices = extraction.slices(bytes).into_iter();
        let slices = slices.map(|(symbol, slice)| (symbol_key(symbol), Some(slice)));
        Self {
            grammar: Arc::new(extraction.grammar.clone()),
            definitions: u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX),
            slices: sorted_slices(slices),
            is_complete: true,
            hidden: extraction
                .hidden_words(bytes)
                .map(|words| words.into_iter().collect()),
        }
    }

    /// Whether it isn't known if the file defines the symbol.
    fn hides(&self, symbol: &Symbol) -> bool {
        let key = symbol_key(symbol);
        let is_sound = self
            .slices
            .binary_search_by_key(&key, |(key, _)| *key)
            .is_ok();
        let is_named =
            |hidden: &[NameHash]| may_name(symbol, |it| hidden.binary_search(&it).is_ok());
        !is_sound && self.hidden.as_deref().is_some_and(is_named)
    }

    /// The symbol's slice, if it has one; `None` if nothing is known of it.
    fn slice(&self, symbol: &Symbol) -> Option<Option<SliceHash>> {
        let key = symbol_key(symbol);
        debug_assert!(
            self.slices.is_sorted_by_key(|(key, _)| *key),
            "a search by halves needs an order"
        );
        match self.slices.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => Some(self.slices[at].1),
            Err(_) => self.is_complete.then_some(None),
        }
    }
}

fn sorted_slices<S>(slices: impl Iterator<Item = (SymbolKey, S)>) -> Box<[(SymbolKey, S)]> {
    let mut slices: Vec<(SymbolKey, S)> = slices.collect();
    slices.sort_unstable_by_key(|(key, _)| *key);
    slices.into_boxed_slice()
}

fn symbol_key(symbol: &Symbol) -> SymbolKey {
    let mut key = SymbolKey::default();
    key.copy_from_slice(&ArtifactHash::of(symbol.as_str().as_bytes()).0[..16]);
    key
}
