//! Several definitions of one symbol: overloads, the branches of an `#ifdef`. Each is told from the others by its head,
//! and compared with what stood in its own place.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::found_code::Reading;
use crate::edit::{Hunk, Place, Unit};
use crate::entity::{EntityId, Symbol};
use crate::extract::{Body, Definition, Extraction, LanguageId};
use crate::path::RelPath;
use crate::slice::{Figures, Span};
use crate::view::Current;

/// One of several definitions of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namesake {
    /// Where it stands in its text.
    pub span: Span,
    /// What tells it from the others, in the same text.
    pub head: Span,
    /// Its structure.
    pub figures: Figures,
    /// What its body holds.
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

    /// The head's words in the definition's text: blanks don't tell two definitions apart.
    #[must_use]
    pub fn words<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let words = self.head.of(text).split(u8::is_ascii_whitespace);
        words.filter(|word| !word.is_empty()).collect()
    }
}

/// How many of these definitions have the head of an earlier one.
#[must_use]
pub fn repeated(text: &[u8], definitions: &[Namesake]) -> usize {
    if definitions.len() < 2 {
        return 0;
    }
    let heads: BTreeSet<_> = definitions
        .iter()
        .map(|definition| definition.words(text))
        .collect();
    definitions.len() - heads.len()
}

/// The true definitions of a symbol that has several.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Their text.
    pub text: Vec<u8>,
    /// The definitions, in source order.
    pub namesakes: Vec<Namesake>,
}

/// What is known of each symbol of `extraction` that has several definitions.
pub(super) fn known(
    reading: Reading<'_>,
    language: LanguageId,
    path: &RelPath,
    extraction: &Extraction,
) -> BTreeMap<Symbol, Known> {
    let symbols: BTreeSet<&Symbol> = extraction
        .definitions
        .iter()
        .map(|definition| &definition.symbol)
        .collect();
    symbols
        .into_iter()
        .filter_map(|symbol| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            let current = reading.view.current(&entity)?;
            let text = (current.spans.len() > 1)
                .then(|| reading.view.slices(current.artifact, &current.spans))??;
            // Out of their scope they may bear a shorter name, so they are told by their places.
            let found = reading.grammars.extract(language, &text).ok()?;
            let namesakes = outermost(&found).map(Namesake::of).collect();
            Some((symbol.clone(), Known { text, namesakes }))
        })
        .collect()
}

/// Definitions that stand in no other one.
fn outermost(extraction: &Extraction) -> impl Iterator<Item = &Definition> {
    let mut reached = 0;
    extraction.definitions.iter().filter(move |definition| {
        let is_outer = definition.span.start >= reached;
        if is_outer {
            reached = definition.span.end;
        }
        is_outer
    })
}

impl Known {
    /// Each new definition of `code` beside the one in whose place it stands: those with the same head, then the others
    /// in order.
    #[must_use]
    pub fn paired<'n>(
        &'n self,
        code: &[u8],
        new: &'n [Namesake],
    ) -> Vec<(&'n Namesake, &'n Namesake)> {
        let mut pairs = Vec::new();
        let mut free: Vec<&Namesake> = self.namesakes.iter().collect();
        let mut changed = Vec::new();
        for one in new {
            let words = one.words(code);
            match free
                .iter()
                .position(|known| known.words(&self.text) == words)
            {
                Some(at) => pairs.push((free.remove(at), one)),
                None => changed.push(one),
            }
        }
        pairs.extend(free.into_iter().zip(changed));
        pairs
    }
}

/// The changes that a block of definitions makes, if it gives fewer definitions of a symbol than there are, each with a
/// head that is known: then it means those alone, and the others stay. `None` if the block isn't of that kind.
pub(super) fn changes(
    reading: Reading<'_>,
    path: &RelPath,
    code: &str,
    extraction: &Extraction,
    known: &BTreeMap<Symbol, Known>,
) -> Option<Vec<Hunk>> {
    let mut new: BTreeMap<&Symbol, Vec<Namesake>> = BTreeMap::new();
    for definition in outermost(extraction) {
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
        let current = reading.view.current(&entity)?;
        match known.get(*symbol) {
            Some(known) => {
                if repeated(code.as_bytes(), new) > 0 {
                    return None;
                }
                for one in new {
                    let words = one.words(code.as_bytes());
                    let is_same = |old: &&Namesake| old.words(&known.text) == words;
                    let mut same = known.namesakes.iter().filter(is_same);
                    let (Some(old), None) = (same.next(), same.next()) else {
                        return None;
                    };
                    hunks.push(hunk(old.span.of(&known.text), code, one.span)?);
                }
            }
            None => hunks.push(hunk(
                &slice_of(reading, &current)?,
                code,
                new.first()?.span,
            )?),
        }
    }
    Some(hunks)
}

fn slice_of(reading: Reading<'_>, current: &Current) -> Option<Vec<u8>> {
    reading.view.slices(current.artifact, &current.spans)
}

/// Puts the new definition in the place of the old one.
fn hunk(old: &[u8], code: &str, new: Span) -> Option<Hunk> {
    Some(Hunk::Replace {
        old: core::str::from_utf8(old).ok()?.into(),
        new: core::str::from_utf8(new.of(code.as_bytes())).ok()?.into(),
        place: Place::Once,
        unit: Unit::Text,
    })
}
