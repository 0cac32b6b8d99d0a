//! A text that is searched for credentials, with a record of how much of it was read.

use super::looks;

/// The text, and the furthest byte that a decision has depended on.
pub(super) struct ScannedText<'t> {
    pub(super) text: &'t [u8],
    /// The end of the last credential: nothing before it may be part of another one.
    pub(super) from: usize,
    /// One past the last byte that was read; beyond the text if its end was.
    pub(super) read_to: usize,
    /// The number of bytes read, repeated ones included.
    #[cfg(test)]
    pub(super) looks: usize,
}

impl<'t> ScannedText<'t> {
    pub(super) fn new(text: &'t [u8], from: usize) -> Self {
        Self {
            text,
            from,
            read_to: from,
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

    /// The end of the bytes of a kind from `at` on, at most `most` of them.
    pub(super) fn end_of_run(
        &mut self,
        at: usize,
        most: usize,
        is_kind: impl Fn(u8) -> bool,
    ) -> usize {
        let mut end = at;
        while end - at < most && self.byte_at(end).is_some_and(&is_kind) {
            end += 1;
        }
        end
    }

    /// The bytes of a kind from `at` on, `least` to `most` of them, over what cuts a key without being part of it: characters that
    /// aren't seen, and one line end. At a line end a run goes on only if its length is known, or if what follows looks like the
    /// rest of a key and not like a word.
    pub(super) fn parted_run(
        &mut self,
        at: usize,
        (least, most): (usize, usize),
        is_kind: impl Fn(u8) -> bool,
    ) -> PartedRun {
        let mut end = self.end_of_run(at, most, &is_kind);
        let mut count = end - at;
        let (mut lines, mut cuts) = (0, 0);
        while count > 0 && count < most && cuts < CUTS_MAX {
            let unseen = self.unseen_at(end);
            let (next, is_line) = if unseen > 0 {
                (end + unseen, false)
            } else {
                (self.line_end_at(end), true)
            };
            if next == end || lines + usize::from(is_line) > 1 {
                break;
            }
            let rest = self.end_of_run(next, most - count, &is_kind);
            let piece = &self.text[next..rest];
            let has = |kind: fn(&u8) -> bool| piece.iter().any(kind);
            let has_rest = if !is_line {
                !piece.is_empty()
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
            if !has_rest {
                break;
            }
            lines += usize::from(is_line);
            cuts += 1;
            count += rest - next;
            end = rest;
        }
        let is_parted = cuts > 0;
        PartedRun {
            end,
            count,
            is_parted,
        }
    }

    /// The length of a character at `at` that isn't seen, also in JSON's escapes; 0 if there is none.
    fn unseen_at(&mut self, at: usize) -> usize {
        // All of them begin with one of these.
        if !matches!(self.byte_at(at), Some(0xc2 | 0xe2 | 0xef | b'\\')) {
            return 0;
        }
        let found = UNSEEN.iter().find(|unseen| self.has_bytes(at, unseen));
        found.map_or(0, |unseen| unseen.len())
    }

    /// One past a line end at `at` with the blanks around it, also in JSON's escapes; `at` if there is none.
    fn line_end_at(&mut self, at: usize) -> usize {
        let mut next = at;
        for end in LINE_ENDS {
            if self.has_bytes(next, end) {
                next += end.len();
                break;
            }
        }
        if next == at {
            return at;
        }
        self.end_of_run(next, INDENT_BYTES_MAX, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Whether these bytes are at `at`, in upper or lower case.
    pub(super) fn has_bytes(&mut self, at: usize, expected: &[u8]) -> bool {
        let mut positions = expected.iter().enumerate();
        positions.all(|(offset, expected)| {
            self.byte_at(at + offset)
                .is_some_and(|byte| byte.eq_ignore_ascii_case(expected))
        })
    }
}

/// A run that may be cut.
pub(super) struct PartedRun {
    /// One past its last byte.
    pub(super) end: usize,
    /// Its bytes, without what cuts it.
    pub(super) count: usize,
    /// Whether anything cuts it.
    pub(super) is_parted: bool,
}

/// The least of a key on each side of a line end.
const PIECE_BYTES_MIN: usize = 4;

/// Most cuts of one run, so that each byte is read a bounded number of times.
const CUTS_MAX: usize = 8;

const INDENT_BYTES_MAX: usize = 16;

/// Line ends, as they stand in text and in JSON; a shell's continued line, too.
const LINE_ENDS: [&[u8]; 6] = [b"\n", b"\r\n", b"\\\n", b"\\\r\n", b"\\n", b"\\r\\n"];

/// Zero-width space, non-joiner and joiner, word joiner, byte order mark, soft hyphen.
const UNSEEN: [&[u8]; 12] = [
    "\u{200b}".as_bytes(),
    "\u{200c}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{2060}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{ad}".as_bytes(),
    b"\\u200b",
    b"\\u200c",
    b"\\u200d",
    b"\\u2060",
    b"\\ufeff",
    b"\\u00ad",
];

/// Whether a byte continues a word: no credential begins or ends between two of them.
pub(super) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
