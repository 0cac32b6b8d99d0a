//! Several definitions of one symbol: overloads, the branches of an `#ifdef`. Each is distinguished by its head and compared
//! with the definition that it replaces.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::code_reader::CodeReader;
use tslp_core::edit::{EditPosition, Hunk, MatchUnit};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::extract::{Body, Definition, Extraction, LanguageId};
use tslp_core::path::RelPath;
use tslp_core::slice::{Figures, Span};
use tslp_projections::file_code::TrueEntity;

/// One of several definitions of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namesake {
    /// Its range in its text.
    pub span: Span,
    /// Its head, which distinguishes it from the others, as a range of the same text.
    pub head: Span,
    /// Its structure.
    pub figures: Figures,
    /// Its body's kind.
    pub body: Body,
}

impl Namesake {
    /// The definition without its text.
    #[must_use]
    pub const fn of(definition: &Definition) -> Self {
        Self {
            span: definition.span,
            head: definition.head,
            figures: definition.figures,
            body: definition.body,
        }
    }

    /// The head without whitespace, which doesn't distinguish two definitions: its words in the definition's text.
    #[must_use]
    pub fn head_words<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let words = self.head.of(text).split(u8::is_ascii_whitespace);
        words.filter(|word| !word.is_empty()).collect()
    }
}

/// The number of definitions whose head an earlier one has.
#[must_use]
pub fn repeated_heads(text: &[u8], definitions: &[Namesake]) -> usize {
    if definitions.len() < 2 {
        return 0;
    }
    let heads: BTreeSet<_> = definitions
        .iter()
        .map(|definition| definition.head_words(text))
        .collect();
    definitions.len() - heads.len()
}

/// The true definitions of a symbol that has several.
#[derive(Clone, Debug, Default)]
pub struct TrueNamesakes {
    /// Their text.
    pub text: Vec<u8>,
    /// The definitions, in source order.
    pub namesakes: Vec<Namesake>,
}

/// The true definitions of each symbol in `extraction` of which several are true.
pub(crate) fn true_namesakes(
    reader: CodeReader<'_>,
    language: LanguageId,
    path: &RelPath,
    extraction: &Extraction,
) -> BTreeMap<Symbol, TrueNamesakes> {
    let symbols: BTreeSet<&Symbol> = extraction
        .definitions
        .iter()
        .map(|definition| &definition.symbol)
        .collect();
    symbols
        .into_iter()
        .filter_map(|symbol| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            let current = reader.view.current_version(&entity)?;
            let text = (current.spans.len() > 1).then(|| {
                reader
                    .view
                    .artifact_slices(current.artifact, &current.spans)
            })??;
            // Without their scope they may get a shorter name, so they are recognised as the outermost definitions instead.
            let found = reader.grammars.extract(language, &text).ok()?;
            let namesakes = outermost(&found.definitions).map(Namesake::of).collect();
            Some((symbol.clone(), TrueNamesakes { text, namesakes }))
        })
        .collect()
}

/// Those of definitions in source order that no other one of them encloses.
pub(crate) fn outermost(definitions: &[Definition]) -> impl Iterator<Item = &Definition> {
    let mut reached = 0;
    definitions.iter().filter(move |definition| {
        let is_outer = definition.span.start >= reached;
        if is_outer {
            reached = definition.span.end;
        }
        is_outer
    })
}

impl TrueNamesakes {
    /// Pairs each new definition of `code` with the one that it replaces: first those with the same head, then the others in
    /// order.
    #[must_use]
    pub fn paired_by_head<'n>(
        &'n self,
        code: &[u8],
        new: &'n [Namesake],
    ) -> Vec<(&'n Namesake, &'n Namesake)> {
        let mut pairs = Vec::new();
        let mut free: Vec<&Namesake> = self.namesakes.iter().collect();
        let mut changed = Vec::new();
        for one in new {
            let words = one.head_words(code);
            match free
                .iter()
                .position(|known| known.head_words(&self.text) == words)
            {
                Some(at) => pairs.push((free.remove(at), one)),
                None => changed.push(one),
            }
        }
        pairs.extend(free.into_iter().zip(changed));
        pairs
    }
}

/// The block as an edit, if it gives fewer definitions of a symbol than are true, each with a known head: then it replaces
/// those alone, and the others stay. `None` for all other blocks.
pub(crate) fn namesake_hunks(
    reader: CodeReader<'_>,
    path: &RelPath,
    code: &str,
    extraction: &Extraction,
    known: &BTreeMap<Symbol, TrueNamesakes>,
) -> Option<Vec<Hunk>> {
    let mut new: BTreeMap<&Symbol, Vec<Namesake>> = BTreeMap::new();
    for definition in outermost(&extraction.definitions) {
        let namesake = Namesake::of(definition);
        new.entry(&definition.symbol).or_default().push(namesake);
    }
    let is_partial = new.iter().any(|(symbol, new)| {
        known
            .get(*symbol)
            .is_some_and(|known| new.len() < known.namesakes.len())
    });
    if !is_partial {
        return None;
    }
    let mut hunks = Vec::new();
    for (symbol, new) in &new {
        let entity = EntityId::symbol(path.clone(), (*symbol).clone());
        let current = reader.view.current_version(&entity)?;
        match known.get(*symbol) {
            Some(known) => {
                if repeated_heads(code.as_bytes(), new) > 0 {
                    return None;
                }
                for one in new {
                    let words = one.head_words(code.as_bytes());
                    let is_same = |old: &&Namesake| old.head_words(&known.text) == words;
                    let mut same = known.namesakes.iter().filter(is_same);
                    let (Some(old), None) = (same.next(), same.next()) else {
                        return None;
                    };
                    hunks.push(replacing_hunk(old.span.of(&known.text), code, one.span)?);
                }
            }
            None => hunks.push(replacing_hunk(
                &true_code(reader, &current)?,
                code,
                new.first()?.span,
            )?),
        }
    }
    Some(hunks)
}

fn true_code(reader: CodeReader<'_>, current: &TrueEntity) -> Option<Vec<u8>> {
    reader
        .view
        .artifact_slices(current.artifact, &current.spans)
}

/// The hunk that replaces the old definition by the new one; `None` if either isn't UTF-8.
pub(crate) fn replacing_hunk(old: &[u8], code: &str, new: Span) -> Option<Hunk> {
    Some(Hunk::Replace {
        old: core::str::from_utf8(old).ok()?.into(),
        new: core::str::from_utf8(new.of(code.as_bytes())).ok()?.into(),
        place: EditPosition::Once,
        unit: MatchUnit::Text,
    })
}
