//! Credentials recognised by their form: the patterns of `formats.txt`, read when tslp is compiled.

use core::ops::Range;

use super::data_file::{next_entry, next_word};
use super::looks;
use super::reading::{ScannedText, is_word_byte};

/// A line of `formats.txt`.
pub(super) struct CredentialFormat {
    name: &'static [u8],
    /// The class and the bounds of the run before the bytes that are searched for.
    before: Option<ByteRun>,
    pattern: &'static [u8],
    any_case: bool,
    needs_digit: bool,
    needs_run: bool,
    entropy_tenths_min: u32,
}

/// A run of a class's bytes.
#[derive(Clone, Copy)]
struct ByteRun {
    class: u8,
    min: usize,
    max: Option<usize>,
}

/// One position or run of a pattern.
enum PatternPart {
    Byte(u8),
    Set(&'static [u8]),
    ByteRun(ByteRun),
}

/// Entropy of a credential if its line says nothing, in tenths of a bit a character.
const ENTROPY_TENTHS_MIN: u32 = 25;

/// Most bytes of a run that are read before it is known to be a credential, so that each byte is read a bounded number of times.
const RUN_BYTES_READ_MAX: usize = 64;

pub(super) static FORMATS: [CredentialFormat; FORMATS_COUNT] = parse_formats();

const LINES: &[u8] = include_bytes!("formats.txt");

const FORMATS_COUNT: usize = {
    let mut count = 0;
    let mut rest = LINES;
    while let (Some(_), after) = next_entry(rest) {
        count += 1;
        rest = after;
    }
    count
};

/// The bit for everything that isn't a format: names, keys, URLs.
const OTHERS: usize = 63;
pub(super) const OTHERS_BIT: u64 = 1 << OTHERS;

/// Sets of formats by each of their first three bytes: most text is ruled out by these.
pub(super) static FIRST: [[u64; 256]; 3] = {
    let mut sets = [[0; 256]; 3];
    let mut at = 0;
    while at < FORMATS_COUNT {
        let format = &FORMATS[at];
        let mut byte = 0;
        while byte < 256 {
            let mut position = 0;
            while position < 3 {
                if format.allows_byte(position, byte as u8) {
                    sets[position][byte] |= 1 << (at % OTHERS);
                }
                position += 1;
            }
            byte += 1;
        }
        at += 1;
    }
    let mut others = super::named::NAMES.as_slice();
    while let [(_, name), after @ ..] = others {
        add_start(&mut sets, name);
        others = after;
    }
    add_start(&mut sets, super::block::BLOCKS[0].open);
    add_start(&mut sets, super::block::BLOCKS[1].open);
    add_start(&mut sets, super::block::BLOCKS[2].open);
    add_start(&mut sets, super::named::URL);
    sets
};

/// Formats with a run before the bytes that are searched for.
const MIDDLES: u64 = {
    let mut bits = 0;
    let mut at = 0;
    while at < FORMATS_COUNT {
        if FORMATS[at].before.is_some() {
            bits |= 1 << (at % OTHERS);
        }
        at += 1;
    }
    bits
};

/// Adds a beginning in upper and lower case to the sets.
const fn add_start(sets: &mut [[u64; 256]; 3], start: &[u8]) {
    let mut position = 0;
    while position < 3 {
        sets[position][start[position].to_ascii_lowercase() as usize] |= 1 << OTHERS;
        sets[position][start[position].to_ascii_uppercase() as usize] |= 1 << OTHERS;
        position += 1;
    }
}

/// The triples of bytes that may begin a credential, by the lower five bits of each. They rule out nearly all text.
static TRIPLES: [u64; 1 << 9] = {
    let mut triples = [0; 1 << 9];
    let mut at = 0;
    while at < FORMATS_COUNT {
        let mut rows = [0; 3];
        let mut byte = 0;
        while byte < 256 {
            let mut position = 0;
            while position < 3 {
                if FORMATS[at].allows_byte(position, byte as u8) {
                    rows[position] |= 1 << (byte & 31);
                }
                position += 1;
            }
            byte += 1;
        }
        add_triples(&mut triples, rows);
        at += 1;
    }
    let mut others = super::named::NAMES.as_slice();
    while let [(_, name), after @ ..] = others {
        add_triples(&mut triples, rows_of(name));
        others = after;
    }
    add_triples(&mut triples, rows_of(super::block::BLOCKS[0].open));
    add_triples(&mut triples, rows_of(super::block::BLOCKS[2].open));
    add_triples(&mut triples, rows_of(super::named::URL));
    triples
};

const fn rows_of(start: &[u8]) -> [u32; 3] {
    [
        1 << (start[0] & 31),
        1 << (start[1] & 31),
        1 << (start[2] & 31),
    ]
}

const fn add_triples(triples: &mut [u64; 1 << 9], rows: [u32; 3]) {
    let mut pair = 0;
    while pair < 1 << 10 {
        if rows[0] >> (pair >> 5) & 1 == 0 {
            pair += 1 << 5;
            continue;
        }
        if rows[1] >> (pair & 31) & 1 == 1 {
            triples[pair >> 1] |= (rows[2] as u64) << ((pair & 1) * 32);
        }
        pair += 1;
    }
}

/// The next position from `at` on whose three bytes may begin a credential.
pub(super) fn next_start(text: &[u8], at: usize) -> Option<usize> {
    let (one, two) = (text.get(at)?, text.get(at + 1)?);
    let low = |byte: &u8| usize::from(*byte & 31);
    let mut triple = low(one) << 5 | low(two);
    let thirds = text.get(at + 2..)?.iter();
    let mut found = thirds.map(|three| {
        triple = (triple << 5 | low(three)) & 0x7fff;
        TRIPLES[triple >> 6] >> (triple & 63) & 1 == 1
    });
    found.position(|found| found).map(|passed| at + passed)
}

/// The formats that may begin at `at`, by their bits.
pub(super) fn formats_at(text: &[u8], at: usize) -> u64 {
    let [first, second, third] = &FIRST;
    match text.get(at..at + 3) {
        Some([one, two, three]) => {
            first[usize::from(*one)] & second[usize::from(*two)] & third[usize::from(*three)]
        }
        _ => 0,
    }
}

/// The longest credential at `at` of the formats in `first`, those whose first bytes are there.
pub(super) fn credential_at(
    reading: &mut ScannedText<'_>,
    at: usize,
    first: u64,
) -> Option<Range<usize>> {
    if !is_word_start(reading.text, at) && first & MIDDLES == 0 {
        return None;
    }
    let mut left = first & !OTHERS_BIT;
    let mut longest: Option<Range<usize>> = None;
    while left != 0 {
        let bit = left.trailing_zeros() as usize;
        left &= left - 1;
        for format in FORMATS[bit..].iter().step_by(OTHERS) {
            let found = format.found_at(reading, at);
            longest = found
                .into_iter()
                .chain(longest)
                .max_by_key(|found| found.end);
        }
    }
    longest
}

impl CredentialFormat {
    /// Whether the pattern can have this byte at one of its first three positions.
    const fn allows_byte(&self, position: usize, byte: u8) -> bool {
        let mut rest = self.pattern;
        let mut position = position;
        loop {
            let (part, after) = next_part(rest);
            match part {
                PatternPart::Byte(expected) if position == 0 => {
                    return self.is_same(byte, expected);
                }
                PatternPart::Set(set) if position == 0 => return self.is_in(set, byte),
                PatternPart::Byte(_) | PatternPart::Set(_) => position -= 1,
                PatternPart::ByteRun(run) if position < run.min => {
                    return is_of_class(run.class, byte);
                }
                PatternPart::ByteRun(_) => panic!("the first three bytes have to be certain"),
            }
            rest = after;
        }
    }

    /// Whether these three bytes can begin it.
    #[cfg(test)]
    pub(super) fn begins_with(&self, bytes: [u8; 3]) -> bool {
        (0..3).all(|position| self.allows_byte(position, bytes[position]))
    }

    const fn is_in(&self, set: &[u8], byte: u8) -> bool {
        contains_byte(set, byte) || self.any_case && contains_byte(set, byte.to_ascii_lowercase())
    }

    const fn is_same(&self, byte: u8, expected: u8) -> bool {
        byte == expected || self.any_case && byte.eq_ignore_ascii_case(&expected)
    }

    /// The credential whose certain bytes begin at `at`, if it is one: with what a line end or characters that aren't seen cut off
    /// of it, or up to there.
    pub(super) fn found_at(
        &self,
        reading: &mut ScannedText<'_>,
        at: usize,
    ) -> Option<Range<usize>> {
        let mut is_parted = false;
        let found = self.found(reading, at, Some(&mut is_parted));
        if found.is_none() && is_parted {
            return self.found(reading, at, None);
        }
        found
    }

    /// The same; `parted` is told whether a run goes on over a cut, and without it none does.
    fn found(
        &self,
        reading: &mut ScannedText<'_>,
        at: usize,
        mut parted: Option<&mut bool>,
    ) -> Option<Range<usize>> {
        let mut start = at;
        if let Some(run) = self.before {
            let most = run.max.unwrap_or(RUN_BYTES_READ_MAX);
            while start > reading.from
                && at - start < most
                && is_of_class(run.class, reading.text[start - 1])
            {
                start -= 1;
            }
            if at - start < run.min {
                return None;
            }
        }
        if !is_word_start(reading.text, start)
            && !matches!(self.before, Some(ByteRun { class: b'd', .. }))
        {
            return None;
        }
        let mut end = at;
        let mut rest = self.pattern;
        let mut body = None;
        let mut endless = None;
        while !rest.is_empty() {
            let (part, after) = next_part(rest);
            rest = after;
            let next = reading.byte_at(end);
            match part {
                PatternPart::Byte(expected)
                    if !next.is_some_and(|next| self.is_same(next, expected)) =>
                {
                    return None;
                }
                PatternPart::Set(set) if !next.is_some_and(|next| self.is_in(set, next)) => {
                    return None;
                }
                PatternPart::Byte(_) | PatternPart::Set(_) => end += 1,
                PatternPart::ByteRun(run) => {
                    body.get_or_insert(end);
                    let from = end;
                    let most = match run.max {
                        Some(max) => max,
                        None if rest.is_empty() => run.min.max(RUN_BYTES_READ_MAX),
                        // Such a run is only read from the start of a word, so that no byte is read from two starts.
                        None if is_strict_start(reading.text, start) => usize::MAX,
                        None => return None,
                    };
                    let is_part = |byte| is_of_class(run.class, byte);
                    let count = match &mut parted {
                        Some(parted) => {
                            let read = reading.parted_run(end, (run.min, most), is_part);
                            **parted |= read.is_parted;
                            end = read.end;
                            read.count
                        }
                        None => {
                            end = reading.end_of_run(end, most, is_part);
                            end - from
                        }
                    };
                    if count < run.min {
                        return None;
                    }
                    if run.max.is_none() && count == most {
                        endless = Some(run);
                    }
                }
            }
        }
        if endless.is_none() && reading.byte_at(end).is_some_and(is_word_byte) {
            return None;
        }
        let body = if self.before.is_some() { start } else { body? };
        let shown = &reading.text[body..end.min(body + RUN_BYTES_READ_MAX)];
        let is_key = (!self.needs_digit || shown.iter().any(u8::is_ascii_digit))
            && (!self.needs_run || looks::is_no_words(shown))
            && looks::entropy_tenths(shown) >= self.entropy_tenths_min;
        if !is_key {
            return None;
        }
        if let Some(run) = endless {
            let goes_on = |byte| is_of_class(run.class, byte) || is_word_byte(byte);
            end = reading.parted_run(end, (0, usize::MAX), goes_on).end;
        }
        Some(start..end)
    }
}

/// Whether the byte before `at` can't be a part of a credential.
fn is_strict_start(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    match before {
        Some(b'-' | b'_' | b'.') => false,
        _ => is_word_start(text, at),
    }
}

/// Whether a credential may begin here: after no letter and no digit, unless they are an escape's.
pub(super) fn is_word_start(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|at| text[at]);
    match before(1) {
        Some(byte) if byte.is_ascii_alphanumeric() => {
            let are_hex = |count: usize| {
                (1..=count).all(|back| before(back).is_some_and(|byte| byte.is_ascii_hexdigit()))
            };
            let escape = |letters: usize| match before(letters + 1) {
                Some(b'\\') if letters == 1 => b"abefnrtv0".contains(&byte),
                Some(b'u' | b'U') => letters == 4 && before(6) == Some(b'\\'),
                Some(b'x') => letters == 2 && before(4) == Some(b'\\'),
                Some(b'%') => letters == 2,
                _ => false,
            };
            escape(1) || are_hex(2) && escape(2) || are_hex(4) && escape(4)
        }
        _ => true,
    }
}

const fn is_of_class(class: u8, byte: u8) -> bool {
    match class {
        b'a' => byte.is_ascii_alphanumeric(),
        b'd' => byte.is_ascii_digit(),
        b'u' => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        b'U' => byte.is_ascii_uppercase(),
        b'l' => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        b'h' => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        b'x' => byte.is_ascii_hexdigit(),
        b'k' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        b'b' => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        b'p' => byte.is_ascii_alphanumeric() || byte == b'/',
        b'q' => byte.is_ascii_alphanumeric() || byte == b'%',
        b'v' => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'@' | b'/'),
        b't' => {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
        }
        _ => panic!("formats.txt says which classes there are"),
    }
}

const fn contains_byte(set: &[u8], byte: u8) -> bool {
    let mut at = 0;
    while at < set.len() {
        if set[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

const fn parse_formats() -> [CredentialFormat; FORMATS_COUNT] {
    let mut formats = [const {
        CredentialFormat {
            name: b"",
            before: None,
            pattern: b"",
            any_case: false,
            needs_digit: true,
            needs_run: false,
            entropy_tenths_min: ENTROPY_TENTHS_MIN,
        }
    }; FORMATS_COUNT];
    let mut rest = LINES;
    let mut at = 0;
    while let (Some(entry), after) = next_entry(rest) {
        let (name, fields) = next_word(entry);
        let (pattern, mut options) = next_word(fields);
        let format = &mut formats[at];
        format.name = name;
        format.pattern = pattern;
        if let (PatternPart::ByteRun(run), after) = next_part(pattern)
            && let [b'|', after @ ..] = after
        {
            format.before = Some(run);
            format.pattern = after;
        }
        while !options.is_empty() {
            let (option, after) = next_word(options);
            match option {
                b"i" => format.any_case = true,
                b"letters" => format.needs_digit = false,
                b"run" => format.needs_run = true,
                [b'e', tenths @ ..] => format.entropy_tenths_min = leading_number(tenths).0 as u32,
                _ => panic!("formats.txt says which options there are"),
            }
            options = after;
        }
        at += 1;
        rest = after;
    }
    formats
}

/// The first part of a pattern, and the rest.
const fn next_part(pattern: &'static [u8]) -> (PatternPart, &'static [u8]) {
    match pattern {
        [b'<', class, bounds @ ..] => {
            let (min, after) = leading_number(bounds);
            let (max, after) = match after {
                [b'-', b'>', after @ ..] => (None, after),
                [b'-', bounds @ ..] => match leading_number(bounds) {
                    (max, [b'>', after @ ..]) => (Some(max), after),
                    _ => panic!("a run ends with `>`"),
                },
                [b'>', after @ ..] => (Some(min), after),
                _ => panic!("a run ends with `>`"),
            };
            let run = ByteRun {
                class: *class,
                min,
                max,
            };
            assert!(is_of_class(run.class, b'0') || is_of_class(run.class, b'A'));
            (PatternPart::ByteRun(run), after)
        }
        [b'[', rest @ ..] => {
            let mut length = 0;
            while rest[length] != b']' {
                length += 1;
            }
            let (set, after) = rest.split_at(length);
            (PatternPart::Set(set), after.split_at(1).1)
        }
        [byte, after @ ..] => (PatternPart::Byte(*byte), after),
        [] => panic!("a pattern begins with three certain bytes"),
    }
}

/// The decimal number at the beginning, and the rest.
const fn leading_number(text: &'static [u8]) -> (usize, &'static [u8]) {
    let mut value = 0;
    let mut rest = text;
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        value = value * 10 + (*digit - b'0') as usize;
        rest = after;
    }
    (value, rest)
}

impl core::fmt::Debug for CredentialFormat {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&alloc::string::String::from_utf8_lossy(self.name))
    }
}
