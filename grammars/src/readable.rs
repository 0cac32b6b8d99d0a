//! The text that is parsed in place of the source: the same bytes, but for what the grammar can't read.

use tslp_core::slice::Span;

use crate::torn::{self, Torn};

/// A placeholder is short; a longer comment isn't worth being looked at.
pub(crate) const PLACEHOLDER_BYTES_MAX: usize = 512;

/// What the words of a text say of its language, as far as they stand where C++ has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Looks {
    /// No words of C++ occur.
    #[default]
    C,
    /// Words of C++ occur, which C may use as names.
    MaybeCpp,
    /// Statements begin as none of C does.
    Cpp,
}

/// A source text made readable for a grammar. Every byte keeps its place.
#[derive(Debug, Default)]
pub(crate) struct Readable {
    /// The text to parse, if it differs from the source.
    pub(crate) changed: Option<Vec<u8>>,
    /// Blanked words that belong to the declaration that follows them, in source order.
    pub(crate) prefixes: Vec<Span>,
    /// Functions that a macro defines: where the parser sees them begin, and the span of their real name.
    pub(crate) macro_functions: Vec<Span>,
    /// Lines of bare dots, blanked.
    pub(crate) elisions: Vec<Span>,
    /// Macro definitions blanked because they stand in the middle of something else, and their names.
    pub(crate) macros: Vec<(Span, Span)>,
    /// Places in blanked text that look wrong: errors as good as the parser's, in source order.
    pub(crate) suspects: Vec<u32>,
    /// How many tokens the source has.
    pub(crate) tokens: usize,
    /// How deep brackets nest.
    pub(crate) depth: u32,
    /// Whether the source ends in the middle of something, where that is known before the parse.
    pub(crate) breaks_off: Option<bool>,
    /// What its words say of its language.
    pub(crate) looks: Looks,
}

impl Readable {
    /// The text to parse.
    pub(crate) fn text<'a>(&'a self, source: &'a [u8]) -> &'a [u8] {
        self.changed.as_deref().unwrap_or(source)
    }

    /// Blanks lines that stand for left-out code.
    pub(crate) fn blank_elided(&mut self, source: &[u8], lines: Vec<Span>) {
        let text = self.changed.get_or_insert_with(|| source.to_vec());
        for line in &lines {
            text[line.start as usize..line.end as usize].fill(b' ');
        }
        self.elisions.extend(lines);
    }

    /// Blanks what is torn; each is an error where it lies.
    pub(crate) fn pass_over(&mut self, source: &[u8], torn: &[Torn]) {
        self.changed = Some(torn::without(self.text(source), torn));
        self.suspects.extend(torn.iter().map(|it| it.error));
        self.suspects.sort_unstable();
        self.suspects.dedup();
    }
}
