//! A text that is searched for credentials, without what eyes don't see, and with a record of how much of it was read.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::looks;
use crate::visible;

/// A text as eyes see it: without characters and colours that aren't seen, and with what escapes of JSON, URLs and HTML say. A key that
/// one of them cuts is whole here, and a name's `=` is one however it is written.
pub(super) struct SeenText<'t> {
    pub(super) bytes: Cow<'t, [u8]>,
    /// Where bytes were left out, in order.
    gaps: Vec<TextGap>,
}

/// Bytes that were left out.
struct TextGap {
    /// The position of what follows.
    at: usize,
    /// How many were left out up to there.
    left_out: usize,
    /// Whether they are the rest of an escape, whose mark is the byte before.
    is_escape: bool,
}

/// What may begin something that isn't seen as it stands.
static UNLIKE: ByteClass = ByteClass::of(b"\\%&\x1b\x80-\xff");

impl<'t> SeenText<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut gaps: Vec<TextGap> = Vec::new();
        let mut kept = Vec::new();
        let (bytes, mut copied, mut at) = (text.as_bytes(), 0, 0);
        while let Some(found) = bytes[at..].iter().position(|byte| UNLIKE.has(*byte)) {
            at += found;
            let Some((mark, length)) = seen_at(text, at) else {
                let first = text[at..].chars().next();
                at += first.map_or(1, char::len_utf8);
                continue;
            };
            kept.extend_from_slice(&bytes[copied..at]);
            kept.extend(mark);
            at += length;
            copied = at;
            gaps.push(TextGap {
                at: kept.len(),
                left_out: at - kept.len(),
                is_escape: mark.is_some(),
            });
        }
        if gaps.is_empty() {
            return Self {
                bytes: Cow::Borrowed(bytes),
                gaps,
            };
        }
        kept.extend_from_slice(&bytes[copied..]);
        Self {
            bytes: Cow::Owned(kept),
            gaps,
        }
    }

    /// Whether something was left out before the byte at `at`: words end there, too.
    fn is_gap(&self, at: usize) -> bool {
        self.gaps.binary_search_by_key(&at, |gap| gap.at).is_ok()
    }

    /// The position in the whole text of the byte at `at`.
    pub(super) fn start_in_text(&self, at: usize) -> usize {
        at + self.left_out(self.gaps.partition_point(|gap| gap.at <= at))
    }

    /// The position in the whole text at which what ends at `at` ends.
    pub(super) fn end_in_text(&self, at: usize) -> usize {
        let before = |gap: &TextGap| gap.at < at || gap.at == at && gap.is_escape;
        at + self.left_out(self.gaps.partition_point(before))
    }

    fn left_out(&self, gaps: usize) -> usize {
        gaps.checked_sub(1)
            .map_or(0, |last| self.gaps[last].left_out)
    }
}

/// Marks as HTML writes them; the rest of what it names is no letter.
const ENTITIES: [(&str, char); 5] = [
    ("&quot;", '"'),
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&apos;", '\''),
];

/// What is seen in place of an escaped character that isn't ASCII: no word goes on over it.
const OTHER_MARK: u8 = 0xff;

/// The mark that is seen in place of what is at `at`, if any is, and the length of that; `None` if it is seen as it stands.
fn seen_at(text: &str, at: usize) -> Option<(Option<u8>, usize)> {
    let rest = &text[at..];
    let escape = match rest.as_bytes()[0] {
        b'\\' => escaped_at(rest),
        // In upper case, as all that write URLs do: `%3d` is a number's place in a format. A password's `%40` doesn't end it.
        b'%' => hex(rest, 1, 2)
            .filter(|_| !rest[..3].contains(|c: char| c.is_ascii_lowercase()))
            .map(|c| (if "@#,;` (){}|\\".contains(c) { '%' } else { c }, 3)),
        b'&' => entity_at(rest),
        _ => rest.chars().next().map(|c| (c, c.len_utf8())),
    };
    let (c, length) = escape?;
    let unseen = match c {
        '\x1b' => colour(&rest[length..]),
        c => is_unseen(c).then_some(0),
    };
    match unseen {
        Some(more) => Some((None, length + more)),
        None if c.is_ascii() => (length > 1).then_some((Some(c as u8), length)),
        None => (length > c.len_utf8()).then_some((Some(OTHER_MARK), length)),
    }
}

/// The character that an entity of HTML says (`&quot;`, `&#34;`, `&#x22;`), and the entity's length.
fn entity_at(text: &str) -> Option<(char, usize)> {
    let Some(number) = text.strip_prefix("&#") else {
        let mut known = ENTITIES.iter();
        return known
            .find_map(|(entity, c)| text.starts_with(entity).then_some((*c, entity.len())));
    };
    let hex = number.strip_prefix(['x', 'X']);
    let (digits, radix) = hex.map_or((number, 10), |digits| (digits, 16));
    let length = digits.bytes().take(8).position(|byte| byte == b';')?;
    let c = char::from_u32(u32::from_str_radix(&digits[..length], radix).ok()?)?;
    Some((c, text.len() - digits.len() + length + 1))
}

/// The length of what follows ESC where a terminal is told a colour.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix('[')?.bytes();
    let length = 1 + numbers
        .take_while(|byte| byte.is_ascii_digit() || *byte == b';')
        .count();
    text[length..].starts_with('m').then_some(length + 1)
}

/// The character that an escape of JSON, C or a shell says (`\u200b`, `\/`, `\x1b`, `\033`), and the escape's length; in JSON in JSON it has
/// more backslashes.
fn escaped_at(text: &str) -> Option<(char, usize)> {
    let slashes = text
        .bytes()
        .take(8)
        .take_while(|byte| *byte == b'\\')
        .count();
    match text.as_bytes().get(slashes)? {
        b'u' | b'U' => match hex(text, slashes + 1, 8) {
            Some(c) if text.as_bytes()[slashes] == b'U' => Some((c, slashes + 9)),
            _ => Some((hex(text, slashes + 1, 4)?, slashes + 5)),
        },
        b'x' => Some((hex(text, slashes + 1, 2)?, slashes + 3)),
        b'/' => Some(('/', slashes + 1)),
        b'e' => Some(('\x1b', slashes + 1)),
        b'0' => text[slashes..]
            .starts_with("033")
            .then_some(('\x1b', slashes + 3)),
        _ => None,
    }
}

/// The character whose number is written in so many digits.
fn hex(text: &str, at: usize, digits: usize) -> Option<char> {
    let number = u32::from_str_radix(text.get(at..at + digits)?, 16).ok()?;
    // JSON writes a character beyond the first 65,536 as two halves.
    let is_half = digits == 4 && (0xd800..0xe000).contains(&number);
    let c = if is_half {
        Some(char::REPLACEMENT_CHARACTER)
    } else {
        char::from_u32(number)
    };
    // Two of them may be a part of a character of several bytes.
    c.filter(|c| digits > 2 || c.is_ascii())
}

fn is_unseen(c: char) -> bool {
    let is_line_end = matches!(c, '\u{2028}' | '\u{2029}');
    let joins = matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    joins || visible::is_hidden(c) && !c.is_control() && !is_line_end
}

/// A class of bytes.
pub(super) struct ByteClass([bool; 256]);

impl ByteClass {
    /// Single bytes and ranges, as in a regular expression's brackets; `^` in front says "all others".
    pub(super) const fn of(set: &[u8]) -> Self {
        let (is_other, mut rest) = match set {
            [b'^', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let mut is_in = [is_other; 256];
        while let [first, after @ ..] = rest {
            let (last, after) = match after {
                [b'-', last, after @ ..] => (*last, after),
                _ => (*first, after),
            };
            let mut byte = *first as usize;
            while byte <= last as usize {
                is_in[byte] = !is_other;
                byte += 1;
            }
            rest = after;
        }
        Self(is_in)
    }

    pub(super) const fn has(&self, byte: u8) -> bool {
        self.0[byte as usize]
    }
}

/// Bytes that continue a word: no credential begins or ends between two of them.
pub(super) static WORD: ByteClass = ByteClass::of(b"a-zA-Z0-9_");

/// What a line end may begin with.
pub(super) static CUT: ByteClass = ByteClass::of(b"\n\r\x0b\x0c\xc2\xe2=\\");

/// What stands before a line's text: blanks, and signs of a quotation or a comment.
static INDENT: ByteClass = ByteClass::of(b" \t>#|*");

/// The text, and the furthest byte that a decision has depended on.
pub(super) struct ScannedText<'t> {
    seen: &'t SeenText<'t>,
    pub(super) text: &'t [u8],
    /// The end of the last credential: nothing before it may be part of another one.
    pub(super) from: usize,
    /// One past the last byte that was read; beyond the text if its end was.
    pub(super) read_to: usize,
    /// How many more line ends a credential may go on over.
    pub(super) lines_left: usize,
    /// The number of bytes read, repeated ones included.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl<'t> ScannedText<'t> {
    pub(super) fn new(seen: &'t SeenText<'t>, from: usize) -> Self {
        Self {
            seen,
            text: &seen.bytes,
            from,
            read_to: from,
            lines_left: 0,
            #[cfg(test)]
            looks: 0,
        }
    }

    /// The byte at `at`.
    pub(super) fn byte_at(&mut self, at: usize) -> Option<u8> {
        self.read_to = self.read_to.max(at + 1);
        #[cfg(test)]
        {
            self.looks += 1;
        }
        self.text.get(at).copied()
    }

    /// Bytes that were read, to be weighed.
    pub(super) fn value(&mut self, start: usize, end: usize) -> &'t [u8] {
        #[cfg(test)]
        {
            self.looks += end - start;
        }
        &self.text[start..end]
    }

    /// The end of the bytes of a class from `at` on, at most `most` of them.
    pub(super) fn end_of_run(&mut self, at: usize, most: usize, class: &ByteClass) -> usize {
        let mut end = at;
        while end - at < most && self.is_at(end, class) {
            end += 1;
        }
        end
    }

    pub(super) fn is_at(&mut self, at: usize, class: &ByteClass) -> bool {
        let byte = self.byte_at(at);
        byte.is_some_and(|byte| class.has(byte))
    }

    /// One past the expected byte, which is at `at` or, if a line ends there, the next line's first.
    pub(super) fn step(&mut self, at: usize, is_expected: impl Fn(u8) -> bool) -> Option<usize> {
        if self.byte_at(at).is_some_and(&is_expected) {
            return Some(at + 1);
        }
        let next = self.next_line(at)?;
        self.byte_at(next).filter(|byte| is_expected(*byte))?;
        self.lines_left -= 1;
        Some(next + 1)
    }

    /// The end and the number of the bytes of a class from `at` on, `least` to `most` of them. At a line end a run goes on only if its
    /// length is known, or if what follows looks like the rest of a key and not like a word.
    pub(super) fn run_over_lines(
        &mut self,
        at: usize,
        (least, most): (usize, usize),
        class: &ByteClass,
    ) -> (usize, usize) {
        let mut end = self.end_of_run(at, most, class);
        let mut count = end - at;
        while count < most
            && let Some(next) = self.next_line(end)
        {
            let rest = self.end_of_run(next, most - count, class);
            let piece = self.value(next, rest);
            let has = |kind: fn(&u8) -> bool| piece.iter().any(kind);
            let is_rest = if count == 0 && least > 0 {
                piece.len() >= least
            } else if most == least {
                count.min(piece.len()) >= PIECE_BYTES_MIN
            } else if count < least {
                count * 2 >= least
                    && piece.len() >= PIECE_BYTES_MIN
                    && has(u8::is_ascii_digit)
                    && has(u8::is_ascii_alphabetic)
            } else {
                looks::has_mixed_run(piece)
            };
            if !is_rest {
                break;
            }
            self.lines_left -= 1;
            count += piece.len();
            end = rest;
        }
        (end, count)
    }

    /// The start of the next line's text, if a line ends at `at` and a credential may go on over it.
    fn next_line(&mut self, at: usize) -> Option<usize> {
        let next = (self.lines_left > 0).then(|| line_end_at(self.text, at))?;
        self.byte_at(next);
        (next > at).then_some(next)
    }

    /// Whether these bytes are at `at`, in upper or lower case.
    pub(super) fn has_bytes(&mut self, at: usize, expected: &[u8]) -> bool {
        let mut positions = expected.iter().enumerate();
        positions.all(|(offset, expected)| {
            self.byte_at(at + offset)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(expected))
        })
    }

    /// Whether no word goes on at `at`.
    pub(super) fn is_word_end(&mut self, at: usize) -> bool {
        !self.is_at(at, &WORD) || self.seen.is_gap(at)
    }

    /// Whether a credential may begin here: after no letter and no digit, unless they are an escape's, as in `\n`, `\012`, `%0a`
    /// and `=0A`.
    pub(super) fn is_word_start(&self, at: usize) -> bool {
        let word = |byte: &&u8| byte.is_ascii_alphanumeric();
        let letters = self.text[..at]
            .iter()
            .rev()
            .take_while(word)
            .take(4)
            .count();
        let mark = at.checked_sub(letters + 1).map(|at| self.text[at]);
        let escaped = &self.text[at - letters..at];
        let is_escape = match mark {
            Some(b'\\') => letters == 1 || escaped.iter().all(|byte| matches!(byte, b'0'..=b'7')),
            Some(b'%' | b'=') => letters == 2 && escaped.iter().all(u8::is_ascii_hexdigit),
            _ => false,
        };
        letters == 0 || is_escape || self.seen.is_gap(at)
    }

    /// Whether the byte before `at` can't be a part of a credential.
    pub(super) fn is_strict_start(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.text[before]);
        !matches!(before, Some(b'-' | b'_' | b'.')) && self.is_word_start(at)
    }
}

/// The least of a key on each side of a line end.
const PIECE_BYTES_MIN: usize = 4;

const INDENT_BYTES_MAX: usize = 16;

/// Line ends, as they stand in text, in mail, in JSON and in a shell's continued line; escaped ones besides.
const LINE_ENDS: [&[u8]; 14] = [
    b"\n",
    b"\r\n",
    b"\r",
    b"\x0b",
    b"\x0c",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\xe2\x80\xa9",
    b"=\n",
    b"=\r\n",
    b"\\\n",
    b"\\\r",
    b"\\\r\n",
    b"\\u2028",
];

/// The length of `\n`, `\r` or `\r\n` as it is escaped in JSON, which may itself be in JSON.
fn escaped_line_end(text: &[u8]) -> usize {
    let after = |at: usize, letter: u8| {
        let slashes = text[at..].iter().take(8).take_while(|byte| **byte == b'\\');
        let end = at + slashes.count();
        (end > at && text.get(end) == Some(&letter)).then_some(end + 1)
    };
    let returned = after(0, b'r').unwrap_or(0);
    after(returned, b'n').unwrap_or(returned)
}

/// One past a line end at `at`, with the next line's indentation and signs of a quotation or comment; `at` if there is none.
pub(super) fn line_end_at(text: &[u8], at: usize) -> usize {
    let rest = &text[at.min(text.len())..];
    if !(rest.first()).is_some_and(|first| CUT.has(*first)) {
        return at;
    }
    // The longest one that fits.
    let ends = LINE_ENDS.iter().filter(|end| rest.starts_with(end));
    let end = ends.map(|end| end.len()).max();
    let end = end.unwrap_or(0).max(escaped_line_end(rest));
    if end == 0 {
        return at;
    }
    let indent = rest[end..].iter().take(INDENT_BYTES_MAX);
    at + end + indent.take_while(|byte| INDENT.has(**byte)).count()
}
