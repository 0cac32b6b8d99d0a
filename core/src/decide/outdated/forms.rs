//! A definition without the lines above it that a reader of code takes for a part of it: a remark, a comment.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::read_code::Forms;
use crate::entity::Symbol;
use crate::extract::{Definition, Extraction};
use crate::hash::SliceHash;
use crate::slice;

/// Lines left out of one definition, at most.
const LINES_LEFT_OUT_MAX: usize = 8;

/// Each symbol and the end of its definition in a text, with the hashes of what may be that definition by where it begins.
#[derive(Default)]
pub(super) struct Found(BTreeMap<(Symbol, usize), BTreeMap<usize, SliceHash>>);

impl Found {
    /// Adds what stands in a part of the text, which begins at `offset`, and hands out its symbols.
    pub(super) fn add(
        &mut self,
        part: &str,
        offset: usize,
        extraction: &Extraction,
    ) -> Vec<(Symbol, SliceHash)> {
        let mut symbols: BTreeMap<&Symbol, Vec<&Definition>> = BTreeMap::new();
        for definition in &extraction.definitions {
            let namesakes = symbols.entry(&definition.symbol).or_default();
            namesakes.push(definition);
        }
        let slices = extraction.slices(part.as_bytes()).into_iter();
        let slices: Vec<_> = slices
            .map(|(symbol, slice)| (symbol.clone(), slice))
            .collect();
        for (symbol, slice) in &slices {
            let namesakes = symbols.get(symbol).map_or(&[][..], Vec::as_slice);
            let (Some(first), Some(last)) = (namesakes.first(), namesakes.last()) else {
                continue;
            };
            let end = last.span.end as usize;
            let forms = self.0.entry((symbol.clone(), offset + end)).or_default();
            forms.insert(offset + first.span.start as usize, *slice);
            // How several of one name stand together is in none of them.
            if namesakes.len() > 1 {
                continue;
            }
            for start in later_starts(part, first) {
                let slice = || slice::hash_of_slice(&part.as_bytes()[start..end]);
                forms.entry(offset + start).or_insert_with(slice);
            }
        }
        slices
    }

    /// Where the first definition begins that was found.
    pub(super) fn first(&self) -> Option<usize> {
        let starts = self.0.values().filter_map(|forms| forms.keys().next());
        starts.min().copied()
    }

    /// All that was found, but for those that are as `known`.
    pub(super) fn besides(self, known: &[(Symbol, SliceHash)]) -> Vec<Forms> {
        let known: BTreeSet<(&Symbol, SliceHash)> = known
            .iter()
            .map(|(symbol, slice)| (symbol, *slice))
            .collect();
        let forms = self.0.into_iter().map(|((symbol, _), forms)| Forms {
            symbol,
            slices: forms.into_values().collect(),
        });
        let is_known = |forms: &Forms| match forms.slices[..] {
            [slice] => known.contains(&(&forms.symbol, slice)),
            _ => false,
        };
        forms.filter(|forms| !is_known(forms)).collect()
    }
}

/// Where a definition may begin instead: at each of its first lines down to that of its name, behind the indentation.
fn later_starts<'t>(text: &'t str, definition: &Definition) -> impl Iterator<Item = usize> + 't {
    let (start, head) = (definition.span.start as usize, definition.head);
    let before_body = text.get(start..head.end as usize).unwrap_or_default();
    let name = before_body.rfind(definition.symbol.last_component());
    let above = &before_body[..name.unwrap_or_default()];
    let line_ends = above.match_indices('\n').map(|(at, _)| at);
    let starts = line_ends.map(move |at| {
        let line = &text[start + at..];
        start + at + (line.len() - line.trim_start().len())
    });
    starts.take(LINES_LEFT_OUT_MAX)
}
