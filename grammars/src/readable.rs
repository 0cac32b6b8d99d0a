//! The text that is parsed in place of the source: the same bytes, except for code that the grammar can't read.

use tslp_core::slice::Span;

/// Longest comment that is checked for being a placeholder.
pub(crate) const PLACEHOLDER_BYTES_MAX: usize = 512;

/// The language that the words of a text suggest, by words of C++ where C++ has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LanguageLooks {
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
    /// Functions that a macro defines: their start in the parser's view, and the span of their real name.
    pub(crate) macro_functions: Vec<Span>,
    /// Lines of bare dots, blanked.
    pub(crate) elisions: Vec<Span>,
    /// Macro definitions blanked because they are in the middle of something else, and their names.
    pub(crate) macros: Vec<(Span, Span)>,
    /// Positions in blanked text that look wrong; they count as errors like the parser's. In source order.
    pub(crate) suspects: Vec<u32>,
    /// The number of tokens in the source.
    pub(crate) tokens: usize,
    /// The nesting depth of brackets.
    pub(crate) depth: u32,
    /// Whether the source ends in the middle of something, if that is known before the parse.
    pub(crate) breaks_off: Option<bool>,
    /// The language that its words suggest.
    pub(crate) looks: LanguageLooks,
}

impl Readable {
    /// The text to parse.
    pub(crate) fn text<'a>(&'a self, source: &'a [u8]) -> &'a [u8] {
        self.changed.as_deref().unwrap_or(source)
    }

    /// Blanks lines that replace left-out code.
    pub(crate) fn blank_elided(&mut self, source: &[u8], lines: Vec<Span>) {
        let text = self.changed.get_or_insert_with(|| source.to_vec());
        for line in &lines {
            text[line.start as usize..line.end as usize].fill(b' ');
        }
        debug_assert_eq!(text.len(), source.len(), "every byte keeps its place");
        self.elisions.extend(lines);
    }
}

/// Blanks bytes so that every line keeps its number and every byte its place.
pub(crate) fn blank(text: &mut [u8]) {
    for byte in text {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
