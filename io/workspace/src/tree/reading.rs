//! Reads and parses one file on a worker thread, and decides what goes to the engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_channel::Sender;
use tslp_core::entity::Symbol;
use tslp_core::event::{DiskFile, DiskFinding, DiskSlice, ReadFailure};
use tslp_core::extract::Grammars;
use tslp_core::limits::PARSE_BYTES_MAX;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::redact;
use tslp_decide::judge::found_code::{self, FoundCode};
use tslp_grammars::{MARKS_MAX, TOKENS_MAX, TreeSitterGrammars};

use super::read_queue::{MemoryShare, ReadJob, ReadQueue};
use crate::observer::{ContentHashes, FileReader};

/// Bytes kept for one definition: its name, position, figures and hash.
const KEPT_MEMORY_PER_DEFINITION: usize = 400;

// `words` names these bounds.
const _: () = assert!(PARSE_BYTES_MAX == 1 << 20 && TOKENS_MAX == 200_000 && MARKS_MAX == 400_000);

/// The reason why no code of a file is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Its language isn't read here.
    NoGrammar,
    /// A symbolic link; its target is taken at its own path.
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
    /// It was removed meanwhile.
    Vanished,
    /// Not UTF-8.
    NotText,
    /// It quotes the proxy's own delimiters.
    QuotesDelimiters,
    /// The parser gave up at one of its bounds, or no definition is free of errors.
    ParseErrors,
    /// It defines nothing.
    NothingDefined,
}

impl SkipReason {
    /// Whether the hash of the whole file is recorded in place of definitions.
    #[must_use]
    pub const fn is_over_a_bound(self) -> bool {
        matches!(self, Self::TooLargeToParse | Self::TooDenseToParse)
    }

    /// A description for people.
    #[must_use]
    pub const fn description(self) -> &'static str {
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
            Self::Unreadable(ReadFailure::TooLarge) => "larger than 16 MiB",
            Self::Unreadable(ReadFailure::Denied) => "unreadable: no permission",
            Self::Unreadable(ReadFailure::Escapes) => "leads out of the workspace",
            Self::Unreadable(ReadFailure::Unsteady) => "unreadable: changes while it is read",
            Self::Unreadable(ReadFailure::TimedOut | ReadFailure::Failed) => "unreadable",
            Self::Vanished => "went away meanwhile",
            Self::NotText => "not UTF-8",
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
            Self::Unreadable(failure) => failure.as_str(),
            Self::Vanished => "vanished",
            Self::NotText => "not_utf8",
            Self::QuotesDelimiters => "quotes_delimiters",
            Self::ParseErrors => "parse_errors",
            Self::NothingDefined => "nothing_defined",
        }
    }
}

/// A file after reading and parsing, successful or not.
#[derive(Debug)]
pub struct ReadFile {
    /// Its position in the walk, from 0.
    pub number: usize,
    /// Its path in the workspace.
    pub path: RelPath,
    /// Its size; 0 if it couldn't be read.
    pub bytes: usize,
    /// What was read of it.
    pub content: FileContent,
    /// Held until the engine is done with the file.
    pub memory: MemoryShare,
}

/// The readable content of a file.
#[derive(Debug)]
pub enum FileContent {
    /// Nothing was read.
    Nothing(DiskFinding, SkipReason),
    /// Only its hashes.
    ContentHashes(ContentHashes, SkipReason),
    /// All of it, with the observation of each symbol that it defines.
    Code(DiskFile, Box<FoundCode>),
}

/// The work of one reading thread: reads and parses files of the queue until it is empty, or nobody receives them.
pub fn read_files(reader: &FileReader, queue: &Arc<ReadQueue>, read: &Sender<ReadFile>) {
    while let Some(job) = queue.next_job() {
        if read.send(read_and_parse(reader, job)).is_err() {
            return;
        }
    }
}

fn read_and_parse(reader: &FileReader, job: ReadJob) -> ReadFile {
    let ReadJob {
        number,
        path,
        mut memory,
    } = job;
    // A parser's panic costs only its own file.
    let (bytes, content) = catch_unwind(AssertUnwindSafe(|| content_of(reader, &path)))
        .unwrap_or((0, FileContent::of_failure(ReadFailure::Failed)));
    // The syntax tree is gone; what is kept waits for the engine, and other files may be parsed meanwhile.
    memory.shrink_to(content.memory_bytes());
    ReadFile {
        number,
        path,
        bytes,
        content,
        memory,
    }
}

fn content_of(reader: &FileReader, path: &RelPath) -> (usize, FileContent) {
    let bytes = match reader.read(path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return (
                0,
                FileContent::Nothing(DiskFinding::Missing, SkipReason::Vanished),
            );
        }
        Err(failure) => return (0, FileContent::of_failure(failure)),
    };
    (
        bytes.len(),
        content_of_bytes(path, &redact::recordable(&bytes)),
    )
}

fn content_of_bytes(path: &RelPath, bytes: &[u8]) -> FileContent {
    let as_it_is = || {
        let language = TreeSitterGrammars.language_of_path(path)?;
        TreeSitterGrammars.extract(language, bytes).ok()
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return FileContent::ContentHashes(
            ContentHashes::of(bytes, as_it_is().as_ref()),
            SkipReason::NotText,
        );
    };
    let found = found_code::code_of_file(&TreeSitterGrammars, path.clone(), text);
    let skip = match &found.extraction {
        Ok(_) if let (true, Some(file)) = (found.defines_something(), found.as_disk_file()) => {
            return FileContent::Code(file, Box::new(found));
        }
        Ok(extraction) => {
            let skip = if extraction.definitions.is_empty() && extraction.clean {
                SkipReason::NothingDefined
            } else {
                SkipReason::ParseErrors
            };
            return FileContent::ContentHashes(ContentHashes::of(bytes, Some(extraction)), skip);
        }
        Err(Reason::QuotesDelimiters) => SkipReason::QuotesDelimiters,
        Err(Reason::NoGrammar) => SkipReason::NoGrammar,
        Err(Reason::TooLargeToParse) => {
            let skip = if bytes.len() > PARSE_BYTES_MAX {
                SkipReason::TooLargeToParse
            } else {
                SkipReason::TooDenseToParse
            };
            return FileContent::ContentHashes(ContentHashes::of(bytes, None), skip);
        }
        Err(_) => SkipReason::ParseErrors,
    };
    FileContent::ContentHashes(ContentHashes::of(bytes, as_it_is().as_ref()), skip)
}

/// The observation of a file with these symbols as well.
fn with_symbols(mut file: DiskFile, symbols: Vec<Symbol>) -> DiskFile {
    debug_assert!(
        file.slices
            .is_sorted_by(|one, other| one.symbol < other.symbol),
        "a file's slices are in the order of their symbols"
    );
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

impl FileContent {
    /// The reason why no code of it is taken.
    pub const fn skip_reason(&self) -> Option<SkipReason> {
        match self {
            Self::Nothing(_, skip) | Self::ContentHashes(_, skip) => Some(*skip),
            Self::Code(..) => None,
        }
    }

    /// The observation, including the file's true symbols, and the code.
    pub fn into_finding(self, tracked: Vec<Symbol>) -> (DiskFinding, Option<Box<FoundCode>>) {
        match self {
            Self::Nothing(finding, _) => (finding, None),
            Self::ContentHashes(hashes, _) => (DiskFinding::File(hashes.disk_file(&tracked)), None),
            Self::Code(file, found) => {
                (DiskFinding::File(with_symbols(file, tracked)), Some(found))
            }
        }
    }

    /// Bytes that it takes until it is decided about.
    fn memory_bytes(&self) -> usize {
        match self {
            Self::Nothing(..) => 0,
            Self::ContentHashes(hashes, _) => {
                hashes.definition_count() * KEPT_MEMORY_PER_DEFINITION
            }
            Self::Code(_, found) => {
                let definitions = found
                    .extraction
                    .as_ref()
                    .map_or(0, |it| it.definitions.len());
                found.code.len() + definitions * KEPT_MEMORY_PER_DEFINITION
            }
        }
    }

    const fn of_failure(failure: ReadFailure) -> Self {
        Self::Nothing(
            DiskFinding::Unreadable(failure),
            SkipReason::Unreadable(failure),
        )
    }
}
