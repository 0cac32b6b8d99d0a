//! Code found in a message, read by a grammar once, before anything is decided about it.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::capture::{self, Block, Closing, Part};
use crate::delimiter;
use crate::entity::Symbol;
use crate::event::PathEvidence;
use crate::extract::{ExtractError, Extraction, Grammars, LanguageId};
use crate::gate::Completeness;
use crate::hash::{ArtifactHash, SliceHash};
use crate::path::RelPath;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::redact;
use crate::slice;
use crate::view::View;

/// One block of code with all that can be said of it without looking at entities.
#[derive(Clone, Debug)]
pub struct FoundCode {
    /// The code.
    pub code: String,
    /// Its address.
    pub artifact: ArtifactHash,
    /// Hash of its canonical form.
    pub whole: SliceHash,
    /// Where it stands verbatim in the message's text.
    pub verbatim: Option<Range<usize>>,
    /// The language that its fence names.
    pub language: Option<String>,
    /// What names its file.
    pub evidence: PathEvidence,
    /// The file; an error says why what was written is no usable path.
    pub path: Option<Result<RelPath, Reason>>,
    /// What it defines; an error says why nothing is known of that.
    pub extraction: Result<Extraction, Reason>,
    /// Whether all of it is there.
    pub completeness: Completeness,
    /// Whether it says that it is a range of its file's lines.
    pub part: Part,
}

/// Whether a message was cut short where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEnd {
    /// The message is whole.
    Whole,
    /// Its writer was stopped (`finish_reason: length`).
    CutShort,
}

/// Finds and reads all code in a message's text. `text` is as it is recorded: without injected blocks and credentials.
#[must_use]
pub fn find(
    view: &dyn View,
    policy: &Policy,
    grammars: &dyn Grammars,
    text: &str,
    end: MessageEnd,
) -> Vec<FoundCode> {
    let blocks = capture::blocks(text);
    let last = blocks.len().saturating_sub(1);
    blocks
        .into_iter()
        .enumerate()
        .map(|(index, block)| {
            let cut = index == last && end == MessageEnd::CutShort;
            read(view, policy, grammars, block, cut)
        })
        .collect()
}

/// Reads a whole file's text as code of that file.
#[must_use]
pub fn of_file(grammars: &dyn Grammars, path: RelPath, text: &str) -> FoundCode {
    let code = redact::redacted(text);
    let language = grammars.language_of_path(&path);
    FoundCode {
        artifact: ArtifactHash::of(code.as_bytes()),
        whole: slice::hash_of(code.as_bytes()),
        verbatim: None,
        language: None,
        evidence: PathEvidence::Header,
        path: Some(Ok(path)),
        extraction: extract(grammars, language, &code),
        completeness: Completeness::Full,
        part: Part::Unsaid,
        code: code.into_owned(),
    }
}

fn read(
    view: &dyn View,
    policy: &Policy,
    grammars: &dyn Grammars,
    block: Block<'_>,
    cut: bool,
) -> FoundCode {
    let written = block.path.as_deref();
    let path = written.map(|written| usable_path(view, policy, written));
    let language = language_of(grammars, &block, path.as_ref());
    let extraction = match is_edit(block.language.as_deref(), &block.code) {
        true => Err(Reason::EditNotApplied),
        false => extract(grammars, language, &block.code),
    };
    let broken_off = block.closing == Closing::Unclosed || cut;
    let elided = extraction
        .as_ref()
        .is_ok_and(|extraction| !extraction.elisions.is_empty());
    FoundCode {
        artifact: ArtifactHash::of(block.code.as_bytes()),
        whole: slice::hash_of(block.code.as_bytes()),
        verbatim: block.verbatim,
        language: block.language,
        evidence: block.evidence,
        path,
        extraction,
        completeness: match (broken_off, elided) {
            (true, _) => Completeness::Truncated,
            (false, true) => Completeness::Elided,
            (false, false) => Completeness::Full,
        },
        part: block.part,
        code: block.code.into_owned(),
    }
}

/// The path, or the one tracked file that bears its base name when the path itself is unknown.
///
/// # Errors
/// As [`RelPath::parse`].
pub fn usable_path(view: &dyn View, policy: &Policy, written: &str) -> Result<RelPath, Reason> {
    let path = RelPath::parse(written, &policy.workspace_root)?;
    if view.tracks(&path) || written.contains(['/', '\\']) {
        return Ok(path);
    }
    let mut same_name = view.files_named(path.basename(), 2);
    match same_name.len() {
        0 => Ok(path),
        1 => Ok(same_name.remove(0)),
        _ => Err(Reason::SeveralCandidates),
    }
}

fn language_of(
    grammars: &dyn Grammars,
    block: &Block<'_>,
    path: Option<&Result<RelPath, Reason>>,
) -> Option<LanguageId> {
    let tag = block.language.as_deref();
    match path {
        Some(Ok(path)) => {
            let language = grammars.language_of_path(path)?;
            let foreign = tag.is_some_and(|tag| is_foreign(grammars, tag, language));
            (!foreign).then_some(language)
        }
        Some(Err(_)) => None,
        None => grammars.language_of_tag(tag?),
    }
}

/// Tags that say nothing of the language.
const PLAIN_TAGS: [&str; 6] = ["text", "txt", "plain", "plaintext", "code", "source"];

/// A fence that names another language than its file's, such as a shell's, is no code of the file before it.
fn is_foreign(grammars: &dyn Grammars, tag: &str, language: LanguageId) -> bool {
    let named = grammars.language_of_tag(tag);
    !PLAIN_TAGS.contains(&tag) && !named.is_some_and(|named| grammars.are_kin(named, language))
}

/// A diff or a SEARCH/REPLACE block holds both the old and the new code, and is neither.
fn is_edit(language: Option<&str>, code: &str) -> bool {
    let is_marker = |line: &str| {
        let (mark, word) = line.split_at(
            line.find(|c| !matches!(c, '<' | '>' | '-' | '+'))
                .unwrap_or(line.len()),
        );
        (5..=9).contains(&mark.len())
            && matches!(word.trim_matches(['>', ' ']), "SEARCH" | "REPLACE")
    };
    let is_hunk = |line: &str| line.starts_with("@@ ") || line.starts_with("*** Begin Patch");
    matches!(language, Some("diff" | "patch"))
        || code
            .lines()
            .map(str::trim)
            .any(|line| is_marker(line) || is_hunk(line))
}

fn extract(
    grammars: &dyn Grammars,
    language: Option<LanguageId>,
    code: &str,
) -> Result<Extraction, Reason> {
    if code.contains(redact::MARKER) {
        return Err(Reason::CredentialRedacted);
    }
    if delimiter::quoted_in(code) {
        return Err(Reason::QuotesDelimiters);
    }
    let language = language.ok_or(Reason::NoGrammar)?;
    grammars
        .extract(language, code.as_bytes())
        .map_err(|error| match error {
            ExtractError::TooLarge => Reason::TooLargeToParse,
            ExtractError::Unparsable => Reason::ParseErrors,
        })
}

impl FoundCode {
    /// The file, if a usable path was named.
    #[must_use]
    pub fn usable_path(&self) -> Option<&RelPath> {
        self.path.as_ref()?.as_ref().ok()
    }

    /// The distinct symbols that the code defines, sorted.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let Ok(extraction) = &self.extraction else {
            return Vec::new();
        };
        let mut symbols: Vec<Symbol> = extraction
            .definitions
            .iter()
            .map(|definition| definition.symbol.clone())
            .collect();
        symbols.sort();
        symbols.dedup();
        symbols
    }

    /// Whether a person or a model would expect this block to be linked to the project: it names a file, or holds
    /// definitions in a language that is read here.
    #[must_use]
    pub fn claims_an_entity(&self) -> bool {
        let names_a_file = self.path.is_some() && self.evidence > PathEvidence::SentenceBefore;
        let is_edit = matches!(self.extraction, Err(Reason::EditNotApplied));
        names_a_file
            || is_edit
            || self
                .extraction
                .as_ref()
                .is_ok_and(|extraction| !extraction.definitions.is_empty())
    }
}
