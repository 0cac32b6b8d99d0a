//! Reads and parses one file, on a worker thread: what of it goes to the engine, and why nothing of its code does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tslp_core::decide::found_code::{self, FoundCode};
use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, ReadFailure};
use tslp_core::extract::Grammars;
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_grammars::{MARKS_MAX, TOKENS_MAX, TreeSitterGrammars};

use super::queue::{Job, Share};
use crate::observer::{FileReader, Hashes};

/// Memory of what is kept of one definition: its name, place, figures and hash.
const KEPT_MEMORY_PER_DEFINITION: usize = 400;

// The words for them name the bounds.
const _: () = assert!(PARSE_BYTES_MAX == 1 << 20 && TOKENS_MAX == 200_000 && MARKS_MAX == 400_000);

/// Why no code of a file is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// Its language isn't read here.
    NoGrammar,
    /// A symbolic link; what it leads to is taken where it lies.
    Link,
    /// A FIFO, socket or device.
    NotAFile,
    /// Its name can't be written down in a ledger.
    Unnamable,
    /// Over the parser's bound, and not to be read in pieces; the hash of the whole file is recorded.
    TooLargeToParse,
    /// Within the parser's bound, and of more tokens than it takes; the hash of the whole file is recorded.
    TooDenseToParse,
    /// It could not be read.
    Unreadable(ReadFailure),
    /// It went away meanwhile.
    Vanished,
    /// Not UTF-8.
    NotText,
    /// It holds a credential, which never enters the ledger.
    Credential,
    /// It quotes the proxy's own delimiters.
    QuotesDelimiters,
    /// The parser gave up at one of its bounds, or no definition is free of errors.
    ParseErrors,
    /// It defines nothing.
    NothingDefined,
}

impl Skip {
    /// Whether the hash of the whole file stands for what couldn't be parsed.
    #[must_use]
    pub const fn is_over_a_bound(self) -> bool {
        matches!(self, Self::TooLargeToParse | Self::TooDenseToParse)
    }

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoGrammar => "no grammar for its language",
            Self::Link => "symbolic link",
            Self::NotAFile | Self::Unreadable(ReadFailure::NotAFile) => "not a regular file",
            Self::Unnamable => "a name that can't be written down",
            Self::TooLargeToParse => {
                "over 1 MiB, and no definition at the margin to cut it at: only its hash is recorded; split it"
            }
            Self::TooDenseToParse => {
                "over 200,000 tokens (outside of C and C++ 400,000): only its hash is recorded; split it"
            }
            Self::Unreadable(ReadFailure::TooLarge) => "over the limit of etv.read_bytes_max",
            Self::Unreadable(ReadFailure::Denied) => "unreadable: no permission",
            Self::Unreadable(ReadFailure::Escapes) => "leads out of the workspace",
            Self::Unreadable(ReadFailure::Unsteady) => "unreadable: changes while it is read",
            Self::Unreadable(ReadFailure::TimedOut | ReadFailure::Failed) => "unreadable",
            Self::Vanished => "went away meanwhile",
            Self::NotText => "not UTF-8",
            Self::Credential => "holds a credential",
            Self::QuotesDelimiters => "quotes the proxy's own delimiters",
            Self::ParseErrors => {
                "no definition could be read: parse errors, or over the parser's bounds"
            }
            Self::NothingDefined => "defines nothing",
        }
    }

    /// A stable snake_case word.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoGrammar => "no_grammar",
            Self::Link => "symbolic_link",
            Self::NotAFile => "not_a_file",
            Self::Unnamable => "unnamable",
            Self::TooLargeToParse => "too_large_to_parse",
            Self::TooDenseToParse => "too_dense_to_parse",
            Self::Unreadable(failure) => failure.code(),
            Self::Vanished => "vanished",
            Self::NotText => "not_utf8",
            Self::Credential => "credential",
            Self::QuotesDelimiters => "quotes_delimiters",
            Self::ParseErrors => "parse_errors",
            Self::NothingDefined => "nothing_defined",
        }
    }
}

/// A file that was read, as far as it could be.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) number: u64,
    pub(super) path: RelPath,
    pub(super) bytes: usize,
    pub(super) content: Content,
    /// Held until the engine is done with the file.
    pub(super) share: Share,
}

/// What is known of a file's content.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing was read.
    Nothing(DiskFinding, Skip),
    /// Its hashes alone.
    Hashes(Hashes, Skip),
    /// All of it, with what disk says of each symbol that it defines.
    Code(DiskFile, Box<FoundCode>),
}

/// Reads and parses a file.
pub(super) fn look(reader: &FileReader, job: Job) -> Looked {
    let Job {
        number,
        path,
        mut share,
    } = job;
    // A parser that panics costs its file and nothing else.
    let (bytes, content) = catch_unwind(AssertUnwindSafe(|| content_of(reader, &path)))
        .unwrap_or((0, Content::unreadable(ReadFailure::Failed)));
    share.parsed(content.memory());
    Looked {
        number,
        path,
        bytes,
        content,
        share,
    }
}

fn content_of(reader: &FileReader, path: &RelPath) -> (usize, Content) {
    let bytes = match reader.read(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return (0, Content::Nothing(DiskFinding::Missing, Skip::Vanished)),
        Err(failure) => return (0, Content::unreadable(failure)),
    };
    (bytes.len(), content(path, &bytes))
}

fn content(path: &RelPath, bytes: &[u8]) -> Content {
    let as_it_is = || {
        let language = TreeSitterGrammars.language_of_path(path)?;
        TreeSitterGrammars.extract(language, bytes).ok()
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Content::Hashes(Hashes::of(bytes, as_it_is().as_ref()), Skip::NotText);
    };
    let found = found_code::code_of_file(&TreeSitterGrammars, path.clone(), text);
    let skip = match &found.extraction {
        Ok(_) if let (true, Some(file)) = (found.defines_something(), found.as_disk_file()) => {
            return Content::Code(file, Box::new(found));
        }
        Ok(extraction) => {
            let skip = if extraction.definitions.is_empty() && extraction.clean {
                Skip::NothingDefined
            } else {
                Skip::ParseErrors
            };
            return Content::Hashes(Hashes::of(bytes, Some(extraction)), skip);
        }
        Err(Reason::CredentialRedacted) => Skip::Credential,
        Err(Reason::QuotesDelimiters) => Skip::QuotesDelimiters,
        Err(Reason::NoGrammar) => Skip::NoGrammar,
        Err(Reason::TooLargeToParse) => {
            let skip = if bytes.len() > PARSE_BYTES_MAX {
                Skip::TooLargeToParse
            } else {
                Skip::TooDenseToParse
            };
            return Content::Hashes(Hashes::of(bytes, None), skip);
        }
        Err(_) => Skip::ParseErrors,
    };
    Content::Hashes(Hashes::of(bytes, as_it_is().as_ref()), skip)
}

/// What disk says to somebody who asks for these symbols as well.
fn with_symbols(mut file: DiskFile, symbols: Vec<Symbol>) -> DiskFile {
    let is_defined = |symbol: &Symbol| {
        let found = file.slices.binary_search_by(|it| it.symbol.cmp(symbol));
        found.is_ok()
    };
    let gone: Vec<Symbol> = symbols.into_iter().filter(|it| !is_defined(it)).collect();
    if !gone.is_empty() {
        let gone = gone.into_iter();
        file.slices.extend(gone.map(|symbol| DiskSlice {
            symbol,
            slice: None,
        }));
        file.slices
            .sort_by(|one, other| one.symbol.cmp(&other.symbol));
    }
    file
}

impl Content {
    /// Why no code of it is taken.
    pub(super) const fn skip(&self) -> Option<Skip> {
        match self {
            Self::Nothing(_, skip) | Self::Hashes(_, skip) => Some(*skip),
            Self::Code(..) => None,
        }
    }

    /// What disk says, also of the symbols that are true, and the code.
    pub(super) fn into_finding(
        self,
        tracked: Vec<Symbol>,
    ) -> (DiskFinding, Option<Box<FoundCode>>) {
        match self {
            Self::Nothing(finding, _) => (finding, None),
            Self::Hashes(hashes, _) => (DiskFinding::File(hashes.disk_file(&tracked)), None),
            Self::Code(file, found) => {
                (DiskFinding::File(with_symbols(file, tracked)), Some(found))
            }
        }
    }

    /// Memory that it takes until it is decided about.
    fn memory(&self) -> usize {
        match self {
            Self::Nothing(..) => 0,
            Self::Hashes(hashes, _) => hashes.slices() * KEPT_MEMORY_PER_DEFINITION,
            Self::Code(_, found) => {
                let definitions = found
                    .extraction
                    .as_ref()
                    .map_or(0, |it| it.definitions.len());
                found.code.len() + definitions * KEPT_MEMORY_PER_DEFINITION
            }
        }
    }

    const fn unreadable(failure: ReadFailure) -> Self {
        Self::Nothing(DiskFinding::Unreadable(failure), Skip::Unreadable(failure))
    }
}
