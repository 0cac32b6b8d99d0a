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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Body, GrammarTag, Proof};
    use crate::slice::{Figures, Span};

    fn defined(text: &str, start: usize, name: &str) -> Definition {
        let end = u32::try_from(text.len()).unwrap();
        let body = text.find(['{', ':']).unwrap_or(text.len());
        let span = |start: usize, end| Span {
            start: u32::try_from(start).unwrap(),
            end,
        };
        Definition {
            symbol: Symbol::new(name),
            span: span(start, end),
            head: span(start, u32::try_from(body).unwrap()),
            body: Body::Code,
            proof: Proof::Ast,
            figures: Figures::default(),
            top_level: true,
            damaged: false,
        }
    }

    fn check(text: &str, name: &str, expected: &[&str]) {
        let definition = defined(text, 0, name);
        let found: Vec<&str> = later_starts(text, &definition)
            .map(|start| &text[start..])
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn lines_go_down_to_that_of_the_name() {
        check("fn f() {\n}", "f", &[]);
        check("// before\nfn f() {\n}", "f", &["fn f() {\n}"]);
        check(
            "// f\r\n    // g\r\n\r\n    fn f() {\r\n    }",
            "S::f",
            &[
                "// g\r\n\r\n    fn f() {\r\n    }",
                "fn f() {\r\n    }",
                "fn f() {\r\n    }",
            ],
        );
        check("int\nadd(int\n  a) {\n}", "add", &["add(int\n  a) {\n}"]);
        check("x\ny {\n}", "other", &[]);
    }

    #[test]
    fn no_more_lines_than_may_be_left_out() {
        let text = "// é\n".repeat(20) + "fn name() {}";
        let definition = defined(&text, 0, "name");
        let starts: Vec<usize> = later_starts(&text, &definition).collect();
        assert_eq!(starts.len(), LINES_LEFT_OUT_MAX);
        assert_eq!(starts.last(), Some(&(8 * "// é\n".len())));
        assert!(starts.iter().all(|start| text[*start..].starts_with("//")));
    }

    fn forms(text: &str, offset: usize, definitions: Vec<Definition>) -> Vec<Forms> {
        let extraction = Extraction {
            grammar: GrammarTag {
                language: "x".into(),
                version: "1".into(),
            },
            definitions,
            figures: Figures::default(),
            elisions: Vec::new(),
            preamble: false,
            clean: true,
            errors: 0,
            breaks_off: false,
        };
        let mut found = Found::default();
        let slices = found.add(text, offset, &extraction);
        assert_eq!(found.first(), Some(offset));
        match offset {
            0 => found.besides(&slices),
            _ => found.besides(&[]),
        }
    }

    #[test]
    fn forms_begin_with_the_longest() {
        let text = "// a\n// b\nfn f() {\n}";
        let found = forms(text, 0, [defined(text, 0, "f")].into());
        let slices =
            [text, &text[5..], &text[10..]].map(|text| slice::hash_of_slice(text.as_bytes()));
        assert_eq!(found[0].slices, slices);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn what_has_one_form_is_named_only_where_it_is_news() {
        let text = "fn f() {\n}";
        assert!(forms(text, 0, [defined(text, 0, "f")].into()).is_empty());
        assert_eq!(forms(text, 7, [defined(text, 0, "f")].into()).len(), 1);
    }

    #[test]
    fn several_of_one_name_have_one_form() {
        let text = "// a\nfn f() {}\nfn f() {\n}";
        let both = [defined(text, 0, "f"), defined(text, 15, "f")];
        assert!(forms(text, 0, both.into()).is_empty());
    }
}
