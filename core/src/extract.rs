//! The engine's interface to parsers; `grammars` implements it with tree-sitter, tests with anything.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::entity::Symbol;
use crate::hash::{ArtifactHash, SliceHash};
use crate::known_lines;
use crate::measure::PartCounts;
use crate::name_hash::{NameHash, name_hash};
use crate::path::RelPath;
use crate::slice::{self, Figures, Span};
use crate::stored::{Archive, Load, Store};
use crate::words;

/// A language with a grammar: an index into the implementor's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LanguageId(pub u8);

/// The grammar that read a text, recorded so that a later one can't rewrite history unseen.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Store, Load, Serialize, Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct GrammarTag {
    /// The language's name, such as `c` or `cpp`.
    pub language: String,
    /// Version of the grammar and of our extraction, such as `0.24.2+1`.
    pub version: String,
}

crate::words! {
    /// How a definition was found (spec §4.1).
    Proof, "proof of a definition" {
        /// A part of the definition is uncertain: with a pattern of `symbols.json` its end, or which of several matches is meant;
        /// with a grammar its scope.
        PartialPattern = "partial_pattern",
        /// A pattern of `symbols.json` matches exactly, and nothing else in the text has the name.
        Pattern = "pattern",
        /// A node of the syntax tree.
        Ast = "ast",
        /// The whole text of a file that has no structure here.
        Exact = "exact",
    }
}

/// The kind of a definition's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Body {
    /// It has no body of statements: a constant, a type, a macro.
    None,
    /// A body that only marks work to be done: empty except for comments, `pass`, a lone TODO.
    Stub,
    /// Statements or members.
    Code,
}

impl GrammarTag {
    /// The prefix of versions that name pattern data instead of a grammar.
    pub const PATTERNS: &'static str = "patterns";

    /// The proof of definitions that were read with this grammar.
    #[must_use]
    pub fn proof(&self) -> Proof {
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
    /// Qualified name. Several definitions in one source may have the same one.
    pub symbol: Symbol,
    /// The definition with the documentation comments and attributes directly above it.
    pub span: Span,
    /// The part that distinguishes it from its namesakes: from its own first token to its body, without documentation.
    pub head: Span,
    /// Its body's kind.
    pub body: Body,
    /// How it was found.
    pub proof: Proof,
    /// Its structure.
    pub figures: Figures,
    /// Its parts, with those of definitions inside of it.
    pub parts: PartCounts,
    /// Whether the definition is at the top level of the file or of a namespace, not inside another definition.
    pub top_level: bool,
    /// Whether a parse error is inside; such a definition is no entity.
    pub damaged: bool,
}

/// The definitions and other structure of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extraction {
    /// The grammar that read it.
    pub grammar: GrammarTag,
    /// All definitions in source order, outer before inner.
    pub definitions: Vec<Definition>,
    /// Structure of the whole text.
    pub figures: Figures,
    /// Comments that replace code left out (see [`crate::elision`]), in source order.
    pub elisions: Vec<Span>,
    /// Code without effect: comments, and strings used as statements; in source order.
    pub remarks: Vec<Span>,
    /// Includes, imports and package lines, in source order.
    pub imports: Vec<Span>,
    /// Whether the text begins as only a whole file does: with includes, imports, a package line or an include guard.
    pub preamble: bool,
    /// Whether there was no parse error.
    pub clean: bool,
    /// The number of parse errors.
    pub errors: u32,
    /// The ranges of the first of them, in source order: an unreadable piece, or the position where something is missing.
    pub unread: Vec<Span>,
    /// Whether the text ends in the middle of something: a bracket, a string or a comment is left open.
    pub breaks_off: bool,
}

impl Extraction {
    /// The sound definitions of each symbol, in source order. With an error in one of them nothing is known of the symbol.
    #[must_use]
    pub fn sound_definitions(&self) -> BTreeMap<&Symbol, Vec<&Definition>> {
        let mut sound: BTreeMap<&Symbol, Vec<&Definition>> = BTreeMap::new();
        for definition in &self.definitions {
            sound
                .entry(&definition.symbol)
                .or_default()
                .push(definition);
        }
        sound.retain(|_, definitions| definitions.iter().all(|it| !it.damaged));
        sound
    }

    /// The words that a broken text may hide definitions of: what it lacks isn't gone if its name is there. `None` if it hides
    /// nothing.
    #[must_use]
    pub fn hidden_words(&self, source: &[u8]) -> Option<BTreeSet<NameHash>> {
        let text = String::from_utf8_lossy(source);
        let words = || known_lines::identifiers(&text).map(|word| name_hash(&text[word]));
        (!self.clean || self.breaks_off).then(|| words().collect())
    }

    /// The hash of each symbol's canonical form; several definitions of one symbol count together, in source order.
    #[must_use]
    pub fn slices(&self, source: &[u8]) -> BTreeMap<&Symbol, SliceHash> {
        self.sound_definitions()
            .into_iter()
            .map(|(symbol, definitions)| {
                let spans = definitions.iter().map(|definition| definition.span);
                (symbol, spans.collect::<Vec<Span>>())
            })
            .map(|(symbol, spans)| (symbol, slice::hash_of_spans(source, &spans)))
            .collect()
    }

    /// The weakest proof of all definitions; [`Proof::Ast`] if there are none.
    #[must_use]
    pub fn weakest_proof(&self) -> Proof {
        let proofs = self.definitions.iter().map(|definition| definition.proof);
        proofs.min().unwrap_or(Proof::Ast)
    }

    /// The distinct symbols at the top level.
    #[must_use]
    pub fn top_level(&self) -> BTreeSet<&Symbol> {
        self.definitions
            .iter()
            .filter(|definition| definition.top_level)
            .map(|definition| &definition.symbol)
            .collect()
    }
}

/// The reason why a text couldn't be extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractError {
    /// Longer than [`crate::limits::PARSE_BYTES_MAX`], and its language isn't read in pieces.
    TooLarge,
    /// More tokens than are parsed, because each costs the parser memory.
    TooDense,
    /// The parser gave up in its bounded time, or can't read such bytes.
    Unparsable,
}

words! {
    /// Whether a part of a text is an import, a definition or a call.
    CodePartKind, "kind of parts" {
        /// A statement that imports, or a call that does.
        Import = "imports",
        /// A constant of a file or a type.
        Constant = "constants",
        /// A type.
        Type = "types",
        /// A function or a method, wherever it is.
        Function = "functions",
        /// A call, also of a macro or a constructor.
        Call = "calls",
    }
}

/// A part of a text that rules for code are about ([`crate::code_spec`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePart {
    /// Its kind.
    pub kind: CodePartKind,
    /// Its line, from 1.
    pub line: usize,
    /// Its name, with `()` after that of a constructor; what is called; an import as it is written.
    pub name: String,
    /// Whether it is in no definition.
    pub top_level: bool,
}

/// Parsers, by language. Implementations are deterministic and bounded in time and memory for any input.
pub trait Grammars {
    /// Hash of the pattern data (`symbols.json`) in force; every decision about code records it.
    fn patterns(&self) -> ArtifactHash;

    /// The tags of all grammars, sorted. Texts read with patterns have the pattern data's tag instead.
    fn tags(&self) -> Vec<GrammarTag> {
        Vec::new()
    }

    /// The language of files with this name.
    fn language_of_path(&self, path: &RelPath) -> Option<LanguageId>;

    /// The language that a fence's info string names, such as `c`, `cpp`, `c++`.
    fn language_of_tag(&self, tag: &str) -> Option<LanguageId>;

    /// The tag by which a fence names the language of files with this name.
    fn tag_of_path(&self, _path: &RelPath) -> Option<&str> {
        None
    }

    /// Whether a text that is said to be in one language may be in the other: C and C++, JavaScript and TypeScript.
    fn are_kin(&self, one: LanguageId, other: LanguageId) -> bool {
        one == other
    }

    /// Finds all definitions of `source`.
    ///
    /// # Errors
    /// [`ExtractError::TooLarge`] and [`ExtractError::TooDense`] if the text is over a bound, [`ExtractError::Unparsable`] if
    /// it can't be parsed in bounded time.
    fn extract(&self, language: LanguageId, source: &[u8]) -> Result<Extraction, ExtractError>;

    /// The imports, calls and definitions of `source`, in source order; none where no grammar reads it.
    fn parts(&self, _language: LanguageId, _source: &[u8]) -> Vec<CodePart> {
        Vec::new()
    }
}
