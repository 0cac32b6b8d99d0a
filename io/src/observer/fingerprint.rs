//! What is remembered of a file's content: hashes of the whole and of each definition, no text.

use std::collections::BTreeSet;
use std::sync::Arc;

use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskSlice};
use tslp_core::extract::{Extraction, GrammarTag};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::slice;

/// A symbol's name in 16 bytes. Names are only ever looked up within one file.
type SymbolKey = [u8; 16];

/// Hashes of one file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// Of the bytes as they are.
    pub(super) raw: ArtifactHash,
    whole: SliceHash,
    parsed: Option<Parsed>,
}

/// Hashes of a file's definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parsed {
    grammar: Arc<GrammarTag>,
    definitions: u32,
    /// Sorted by key.
    slices: Box<[(SymbolKey, SliceHash)]>,
}

impl Fingerprint {
    /// Hashes `bytes`, whose address is `raw`.
    pub(super) fn of(raw: ArtifactHash, bytes: &[u8], extraction: Option<&Extraction>) -> Self {
        Self {
            raw,
            whole: slice::hash_of_whole(bytes),
            parsed: extraction.map(|extraction| Parsed::of(bytes, extraction)),
        }
    }

    /// How many slice hashes it holds.
    pub(super) fn slices(&self) -> usize {
        self.parsed.as_ref().map_or(0, |parsed| parsed.slices.len())
    }

    /// The answer for somebody who asks for `symbols`.
    pub(super) fn disk_file(&self, symbols: &[Symbol]) -> DiskFile {
        let Some(parsed) = &self.parsed else {
            return DiskFile {
                whole: self.whole,
                slices: Vec::new(),
                definitions: 0,
                grammar: None,
            };
        };
        let wanted: BTreeSet<&Symbol> = symbols.iter().collect();
        DiskFile {
            whole: self.whole,
            slices: wanted
                .into_iter()
                .map(|symbol| DiskSlice {
                    symbol: symbol.clone(),
                    slice: parsed.slice(symbol),
                })
                .collect(),
            definitions: parsed.definitions,
            grammar: Some((*parsed.grammar).clone()),
        }
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

impl Parsed {
    fn of(bytes: &[u8], extraction: &Extraction) -> Self {
        let mut slices: Vec<(SymbolKey, SliceHash)> = extraction
            .slices(bytes)
            .into_iter()
            .map(|(symbol, slice)| (key(symbol), slice))
            .collect();
        slices.sort_unstable_by_key(|(key, _)| *key);
        Self {
            grammar: Arc::new(extraction.grammar.clone()),
            definitions: u32::try_from(extraction.top_level().len()).unwrap_or(u32::MAX),
            slices: slices.into_boxed_slice(),
        }
    }

    fn slice(&self, symbol: &Symbol) -> Option<SliceHash> {
        let key = key(symbol);
        let at = self
            .slices
            .binary_search_by_key(&key, |(key, _)| *key)
            .ok()?;
        Some(self.slices[at].1)
    }
}

fn key(symbol: &Symbol) -> SymbolKey {
    let mut key = SymbolKey::default();
    key.copy_from_slice(&ArtifactHash::of(symbol.as_str().as_bytes()).0[..16]);
    key
}
