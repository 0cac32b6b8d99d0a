//! What the engine asks of a parser; `grammars` answers with tree-sitter, tests may answer with anything.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::entity::Symbol;
use crate::hash::{ArtifactHash, SliceHash};
use crate::path::RelPath;
use crate::slice::{self, Figures, Span};

/// A language with a grammar: an index into the implementor's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageId(pub u8);

/// Which grammar gave an answer, so that a later one can't rewrite history unseen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrammarTag {
    /// The language's name, such as `c` or `cpp`.
    pub language: String,
    /// Version of the grammar and of our extraction, such as `0.24.2+1`.
    pub version: String,
}

/// How a definition was found (spec §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// Something of the definition can't be told: by a pattern of `symbols.json` its end, or which of several matches is
    /// meant; by a grammar what it belongs to.
    PartialPattern,
    /// A pattern of `symbols.json` matches exactly, and nothing else in the text bears the name.
    Pattern,
    /// A node of the syntax tree.
    Ast,
}

/// What stands in a definition's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Body {
    /// It has no body of statements: a constant, a type, a macro.
    None,
    /// A body that does nothing but stand for work to be done: empty but for comments, `pass`, a lone TODO.
    Stub,
    /// Statements or members.
    Code,
}

impl GrammarTag {
    /// How versions begin that name patterns instead of a grammar.
    pub const PATTERNS: &'static str = "patterns";

    /// How definitions read by this were found.
    #[must_use]
    pub fn means(&self) -> Proof {
        if self.version.starts_with(Self::PATTERNS) {
            Proof::Pattern
        } else {
            Proof::Ast
        }
    }
}

/// One definition found in a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Qualified name. Several definitions in one source may bear the same one.
    pub symbol: Symbol,
    /// The definition with the documentation comments and attributes directly above it.
    pub span: Span,
    /// The part of it that tells it from its namesakes: from its own first token to its body, documentation left out.
    pub head: Span,
    /// What its body holds.
    pub body: Body,
    /// How it was found.
    pub proof: Proof,
    /// Its structure.
    pub figures: Figures,
    /// Whether the definition stands at the top level of the file or of a namespace, not inside another definition.
    pub top_level: bool,
    /// Whether a parse error lies inside.
    pub damaged: bool,
}

/// What a source text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// Which grammar said so.
    pub grammar: GrammarTag,
    /// In source order, outer before inner.
    pub definitions: Vec<Definition>,
    /// Structure of the whole text.
    pub figures: Figures,
    /// Comments that stand for code left out (see [`crate::elision`]), in source order.
    pub elisions: Vec<Span>,
    /// What does nothing: comments, and strings that stand as statements; in source order.
    pub remarks: Vec<Span>,
    /// What the text takes from elsewhere: includes, imports, a package line; in source order.
    pub imports: Vec<Span>,
    /// Whether the text opens with what only a whole file has: includes, imports, a package line, an include guard.
    pub preamble: bool,
    /// Whether the parser met no error at all.
    pub clean: bool,
    /// How many errors it met.
    pub errors: u32,
    /// Where the first of them are, in source order: a piece that couldn't be read, or the place where something is missing.
    pub unread: Vec<Span>,
    /// Whether the text ends in the middle of something: a bracket, a string or a comment is left open.
    pub breaks_off: bool,
}

impl Extraction {
    /// The hash of each symbol's canonical form; several definitions of one symbol count together, in source order.
    #[must_use]
    pub fn slices(&self, source: &[u8]) -> BTreeMap<&Symbol, SliceHash> {
        let mut spans: BTreeMap<&Symbol, Vec<Span>> = BTreeMap::new();
        for definition in &self.definitions {
            spans
                .entry(&definition.symbol)
                .or_default()
                .push(definition.span);
        }
        spans
            .into_iter()
            .map(|(symbol, spans)| (symbol, slice::hash_of_spans(source, &spans)))
            .collect()
    }

    /// How the definition that is known least surely was found.
    #[must_use]
    pub fn proof(&self) -> Proof {
        let proofs = self.definitions.iter().map(|definition| definition.proof);
        proofs.min().unwrap_or(Proof::Ast)
    }

    /// The distinct symbols that stand at the top level.
    #[must_use]
    pub fn top_level(&self) -> BTreeSet<&Symbol> {
        self.definitions
            .iter()
            .filter(|definition| definition.top_level)
            .map(|definition| &definition.symbol)
            .collect()
    }
}

/// Why a text gave no extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractError {
    /// Longer than [`crate::limits::PARSE_BYTES_MAX`], and not to be read in pieces.
    TooLarge,
    /// Of more tokens than are parsed, for each costs a parser memory.
    TooDense,
    /// The parser gave up in its bounded time, or can't read such bytes.
    Unparsable,
}

/// Parsers, by language. Implementations are deterministic and bounded in time and memory for any input.
pub trait Grammars {
    /// Hash of the pattern data (`symbols.json`) that is in force; it stands in every decision about code.
    fn patterns(&self) -> ArtifactHash;

    /// The tags of all grammars, sorted. What patterns read has the tag of the pattern data instead.
    fn tags(&self) -> Vec<GrammarTag> {
        Vec::new()
    }

    /// The language of files with this name.
    fn language_of_path(&self, path: &RelPath) -> Option<LanguageId>;

    /// The language that a fence's info string names, such as `c`, `cpp`, `c++`.
    fn language_of_tag(&self, tag: &str) -> Option<LanguageId>;

    /// Whether a text that is said to be in one language may be in the other: C and C++, JavaScript and TypeScript.
    fn are_kin(&self, one: LanguageId, other: LanguageId) -> bool {
        one == other
    }

    /// Finds all definitions of `source`.
    ///
    /// # Errors
    /// When the text is over the bound or can't be parsed in bounded time.
    fn extract(&self, language: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError>;
}
