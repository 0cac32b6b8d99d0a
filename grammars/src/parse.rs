//! One parse in bounded time, whatever the bytes.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};
use tslp_core::extract::ExtractError;

use crate::language::Language;
use crate::readable::Readable;

/// Deepest nesting of brackets that is parsed. Each open level costs a parser about 300 bytes in any reading it
/// considers; code that people write nests a few dozen deep.
const NESTING_MAX: u32 = 10_000;

/// Most tokens and comments that are parsed, since each costs a parser memory: 150 to 190 bytes in C without errors, up to 300
/// elsewhere. A megabyte of ordinary code holds 120,000 to 250,000; one of digits and commas would take 160 MB.
pub const TOKENS_MAX: usize = 200_000;

/// Most words and marks that are parsed in languages whose comments and literals aren't recognised before the parse. A megabyte
/// of ordinary code has 250,000 to 350,000; one of digits and commas has a million.
pub const MARKS_MAX: usize = 400_000;

/// Work that is granted before any byte is read, and for each byte that is: see [`work`]. Of 7,400 real files most need 50 a byte, and
/// all but one at most 550.
const WORK_BASE: usize = 2 << 20;
const WORK_PER_BYTE: usize = 600;

/// Bytes that are handed to a lexer at once.
const READ_AT_ONCE: usize = 1 << 10;

/// How often a text may be read over: of some 600 real files over 30 KB none was read ten times. Where each of many opening quotes has a scanner
/// look for its end in vain, it would be thousands of times.
const READINGS_MAX: usize = 32;

/// Parses `text`; the budgets count a parser's work and bytes read, never time, so that the answer is the same on every machine.
///
/// The budget of work grows with the bytes passed, so that a parser that gets nowhere stops early.
///
/// # Errors
/// [`ExtractError::Unparsable`] when the budget is spent.
pub(crate) fn parse_bounded(language: &Language, text: &[u8]) -> Result<Tree, ExtractError> {
    let before = work::done();
    let mut parser = Parser::new();
    // A grammar of another ABI than the library would leave every text of its language unread.
    parser
        .set_language(&(language.grammar)())
        .expect("grammars and library are built together, and tests parse with each");
    let unread = Cell::new(READINGS_MAX * text.len().max(READ_AT_ONCE));
    let mut progress = |state: &ParseState| {
        let earned = WORK_BASE + WORK_PER_BYTE * state.current_byte_offset();
        if work::done().wrapping_sub(before) > earned || unread.get() == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _| {
        // Asked for what comes after the end, it says that there is nothing; and where no more may be read, a scan is at its end.
        let rest = text.get(at..).filter(|_| unread.get() > 0);
        let piece = rest.map_or(&[][..], |rest| &rest[..rest.len().min(READ_AT_ONCE)]);
        unread.set(unread.get().saturating_sub(piece.len()));
        piece
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| unread.get() > 0)
        .ok_or(ExtractError::Unparsable)
}

/// The work of this thread's parsers, counted by what they ask for of memory: each of their steps takes some, also those that they only
/// try where a text is in error. Progress calls show none of these, and a parser may try as many as the text is long at each word.
#[allow(unsafe_code)]
mod work {
    use std::cell::Cell;
    use std::ffi::c_void;
    use std::sync::Once;

    use tree_sitter::{Allocator, set_allocator};

    /// What a piece of memory counts besides its bytes.
    const PIECE: usize = 128;

    thread_local! {
        static DONE: Cell<usize> = const { Cell::new(0) };
    }

    unsafe extern "C" {
        fn malloc(size: usize) -> *mut c_void;
        fn calloc(count: usize, size: usize) -> *mut c_void;
        fn realloc(old: *mut c_void, size: usize) -> *mut c_void;
        fn free(old: *mut c_void);
    }

    fn count(size: usize, given: *mut c_void) -> *mut c_void {
        DONE.set(DONE.get().wrapping_add(size + PIECE));
        // The library takes no refusal, and has its own default end the process likewise.
        if given.is_null() {
            std::process::abort();
        }
        given
    }

    // SAFETY of all three: they pass on what the library asks of them, as it asks it.
    unsafe extern "C" fn counted_malloc(size: usize) -> *mut c_void {
        count(size, unsafe { malloc(size) })
    }

    unsafe extern "C" fn counted_calloc(pieces: usize, size: usize) -> *mut c_void {
        count(pieces * size, unsafe { calloc(pieces, size) })
    }

    unsafe extern "C" fn counted_realloc(old: *mut c_void, size: usize) -> *mut c_void {
        count(size, unsafe { realloc(old, size) })
    }

    /// The work so far.
    pub(super) fn done() -> usize {
        static COUNTING: Once = Once::new();
        COUNTING.call_once(|| {
            let allocator = Allocator {
                malloc: counted_malloc,
                calloc: counted_calloc,
                realloc: counted_realloc,
                free,
            };
            // SAFETY: all are libc's, as the library's own are, and nothing parses yet: each parse asks here first.
            unsafe { set_allocator(Some(allocator)) };
        });
        DONE.get()
    }
}

/// Looks whether a text may be parsed.
///
/// # Errors
/// [`ExtractError::TooDense`] if the text has more tokens than are parsed, [`ExtractError::Unparsable`] if brackets nest deeper.
pub(crate) fn check_density(source: &[u8], readable: &Readable) -> Result<(), ExtractError> {
    if readable.tokens > TOKENS_MAX {
        return Err(ExtractError::TooDense);
    }
    let (nesting, marks) = density(readable.text(source));
    if readable.tokens == 0 && marks > MARKS_MAX {
        return Err(ExtractError::TooDense);
    }
    match nesting.max(readable.depth) {
        nesting if nesting > NESTING_MAX => Err(ExtractError::Unparsable),
        _ => Ok(()),
    }
}

/// The nesting depth of a text's brackets and its number of words and marks, with literals and comments counted as code: exact
/// enough to refuse texts that nobody writes.
fn density(text: &[u8]) -> (u32, usize) {
    let (mut depth, mut deepest, mut count) = (0_i32, 0, 0);
    let mut in_word = false;
    for byte in text {
        let (kind, step) = BYTES[usize::from(*byte)];
        let is_word = kind == ByteKind::Word;
        count += usize::from(kind == ByteKind::Mark || is_word && !in_word);
        in_word = is_word;
        depth = (depth + i32::from(step)).max(0);
        deepest = deepest.max(depth);
    }
    (deepest.unsigned_abs(), count)
}

/// The kind of token that a byte is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    Blank,
    Word,
    Mark,
}

/// For each byte its kind, and the change of the nesting depth after it.
static BYTES: [(ByteKind, i8); 256] = {
    let mut bytes = [(ByteKind::Mark, 0); 256];
    let mut byte = 0_u8;
    loop {
        let kind = match byte {
            _ if byte.is_ascii_whitespace() => ByteKind::Blank,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => ByteKind::Word,
            _ => ByteKind::Mark,
        };
        let step = match byte {
            b'(' | b'[' | b'{' => 1,
            b')' | b']' | b'}' => -1,
            _ => 0,
        };
        bytes[byte as usize] = (kind, step);
        if byte == u8::MAX {
            break bytes;
        }
        byte += 1;
    }
};
