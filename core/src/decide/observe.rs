//! A look at the disk becomes an event only where it differs from the last look (spec §15).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::entity::Symbol;
use crate::event::{DiskFile, DiskFinding, DiskObserved, DiskSlice, Event};
use crate::extract::Grammars;
use crate::path::RelPath;
use crate::slice::{self, Span};
use crate::view::View;

/// The event for a finding, unless it says nothing new.
#[must_use]
pub fn observe(view: &dyn View, path: RelPath, finding: DiskFinding) -> Option<Event> {
    if view
        .disk(&path)
        .is_some_and(|known| says_the_same(known, &finding))
    {
        return None;
    }
    Some(Event::DiskObserved(DiskObserved { path, finding }))
}

/// Whether the new finding adds nothing: the same file, and no symbol that wasn't looked for before.
fn says_the_same(known: &DiskFinding, new: &DiskFinding) -> bool {
    match (known, new) {
        (DiskFinding::File(known), DiskFinding::File(new)) => {
            known.whole == new.whole
                && known.grammar == new.grammar
                && new
                    .slices
                    .iter()
                    .all(|slice| known.slices.binary_search(slice).is_ok())
        }
        (known, new) => known == new,
    }
}

/// What a readable file's bytes say of the symbols asked for (sorted). The file is parsed only if something is asked.
#[must_use]
pub fn fingerprint(
    grammars: &dyn Grammars,
    path: &RelPath,
    bytes: &[u8],
    symbols: &[Symbol],
) -> DiskFile {
    let whole = slice::hash_of(bytes);
    let extraction = grammars
        .language_of_path(path)
        .filter(|_| !symbols.is_empty())
        .and_then(|language| grammars.extract(language, bytes).ok());
    let Some(extraction) = extraction else {
        return DiskFile {
            whole,
            slices: Vec::new(),
            definitions: 0,
            grammar: None,
        };
    };
    let mut spans: BTreeMap<&Symbol, Vec<Span>> = BTreeMap::new();
    let mut top_level = BTreeSet::new();
    for definition in &extraction.definitions {
        spans
            .entry(&definition.symbol)
            .or_default()
            .push(definition.span);
        if definition.top_level {
            top_level.insert(&definition.symbol);
        }
    }
    DiskFile {
        whole,
        slices: symbols
            .iter()
            .map(|symbol| DiskSlice {
                symbol: symbol.clone(),
                slice: spans
                    .get(symbol)
                    .map(|spans| slice::hash_of_spans(bytes, spans)),
            })
            .collect(),
        definitions: u32::try_from(top_level.len()).unwrap_or(u32::MAX),
        grammar: Some(extraction.grammar.clone()),
    }
}
