//! Credentials recognised by their form: the patterns of `formats.txt`, read when tslp is compiled.

use core::ops::Range;

use super::data_file::{count_entries, next_entry, next_word};
use super::looks;
use super::reading::{ByteClass, CUT, ScannedText, line_end_at};

/// A line of `formats.txt`.
struct CredentialFormat {
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
    class: &'static RunClass,
    min: usize,
    max: Option<usize>,
}

/// A class of bytes by its letter in `formats.txt`.
struct RunClass {
    letter: u8,
    bytes: ByteClass,
    /// With those that continue a word: what a run without a bound goes on with once it is a credential.
    goes_on: ByteClass,
}

impl RunClass {
    const fn new(letter: u8, bytes: &[u8], goes_on: &[u8]) -> Self {
        Self {
            letter,
            bytes: ByteClass::of(bytes),
            goes_on: ByteClass::of(goes_on),
        }
    }

    const fn of(letter: u8) -> &'static Self {
        let mut classes = CLASSES.as_slice();
        while let [class, after @ ..] = classes {
            if class.letter == letter {
                return class;
            }
            classes = after;
        }
        panic!("formats.txt says which classes there are")
    }
}

static CLASSES: [RunClass; 12] = [
    RunClass::new(b'a', b"a-zA-Z0-9", b"a-zA-Z0-9_"),
    RunClass::new(b'd', b"0-9", b"a-zA-Z0-9_"),
    RunClass::new(b'u', b"A-Z0-9", b"a-zA-Z0-9_"),
    RunClass::new(b'l', b"a-z0-9", b"a-zA-Z0-9_"),
    RunClass::new(b'h', b"0-9a-f", b"a-zA-Z0-9_"),
    RunClass::new(b'x', b"0-9a-fA-F", b"a-zA-Z0-9_"),
    RunClass::new(b'p', b"a-zA-Z0-9/", b"a-zA-Z0-9/_"),
    RunClass::new(b'q', b"a-zA-Z0-9%", b"a-zA-Z0-9%_"),
    RunClass::new(b'b', b"a-zA-Z0-9+/=", b"a-zA-Z0-9+/=_"),
    RunClass::new(b'k', b"a-zA-Z0-9_-", b"a-zA-Z0-9_-"),
    RunClass::new(b'v', b"a-zA-Z0-9_@/-", b"a-zA-Z0-9_@/-"),
    RunClass::new(b't', b"a-zA-Z0-9_.~+/=-", b"a-zA-Z0-9_.~+/=-"),
];

/// One position or run of a pattern.
enum PatternPart {
    Set(&'static [u8]),
    ByteRun(ByteRun),
}

/// Entropy of a credential if its line says nothing, in tenths of a bit a character.
const ENTROPY_TENTHS_MIN: u32 = 25;

/// Most bytes of a run that are read before it is known to be a credential, so that each byte is read a bounded number of times.
const RUN_BYTES_READ_MAX: usize = 48;

/// Most line ends that a credential goes on over.
const LINE_ENDS_MAX: usize = 4;

static FORMATS: [CredentialFormat; FORMATS_COUNT] = parse_formats();

const LINES: &[u8] = include_bytes!("formats.txt");

const FORMATS_COUNT: usize = count_entries(LINES);

/// Bits of formats; those above are for everything else, names, keys and URLs, by their first letter.
const FORMAT_BITS: usize = 50;
pub(super) const OTHERS: u64 = !0 << FORMAT_BITS;

/// Sets of formats by each of their first three bytes: most text is ruled out by these.
static FIRST: [[u64; 256]; 3] = {
    let mut sets = [[0; 256]; 3];
    let mut at = 0;
    while at < FORMATS_COUNT {
        let mut position = 0;
        while position < 3 {
            FORMATS[at].add_to(&mut sets[position], position, 1 << (at % FORMAT_BITS));
            position += 1;
        }
        at += 1;
    }
    let mut others = super::named::NAMES.as_slice();
    while let [(family, name), after @ ..] = others {
        if !matches!(family, super::named::NameFamily::Harmless) {
            add_start(&mut sets, name);
        }
        others = after;
    }
    let mut others = super::block::BLOCKS.as_slice();
    while let [block, after @ ..] = others {
        add_start(&mut sets, block.open);
        others = after;
    }
    add_start(&mut sets, super::named::URL);
    sets
};

/// As the second of [`FIRST`], but where a credential may go on over a line end anything may begin before it.
static SECOND_OR_CUT: [u64; 256] = {
    let mut sets = FIRST[1];
    let mut byte = u8::MAX;
    while byte > 0 {
        if CUT.has(byte) {
            sets[byte as usize] = !0;
        }
        byte -= 1;
    }
    sets
};

/// Formats with a run before the bytes that are searched for.
const MIDDLES: u64 = {
    let mut bits = 0;
    let mut at = 0;
    while at < FORMATS_COUNT {
        if FORMATS[at].before.is_some() {
            bits |= 1 << (at % FORMAT_BITS);
        }
        at += 1;
    }
    bits
};

/// Adds a beginning in upper and lower case to the sets.
const fn add_start(sets: &mut [[u64; 256]; 3], start: &[u8]) {
    let bit = 1 << (FORMAT_BITS + (start[0] & 31) as usize % 13);
    let mut position = 0;
    while position < 3 {
        sets[position][start[position].to_ascii_lowercase() as usize] |= bit;
        sets[position][start[position].to_ascii_uppercase() as usize] |= bit;
        position += 1;
    }
}

/// The next position from `at` on whose three bytes may begin a credential, and what may begin there, by its bits.
pub(super) fn next_start(text: &[u8], at: usize) -> Option<(usize, u64)> {
    // Two bytes rule out nearly all text.
    let may_begin = |at: &usize| {
        let second = text.get(at + 1);
        let second = second.map_or(!0, |byte| SECOND_OR_CUT[usize::from(*byte)]);
        FIRST[0][usize::from(text[*at])] & second != 0
    };
    let places = (at..text.len()).filter(may_begin);
    let mut starts = places.map(|at| (at, starts_at(text, at)));
    starts.find(|(_, begins)| *begins != 0)
}

/// What may begin at `at`, by its bits; formats also over a line end, and at the text's end.
pub(super) fn starts_at(text: &[u8], at: usize) -> u64 {
    let (mut begins, mut next) = (!0, at);
    for set in &FIRST {
        let allowed = |at: usize| (text.get(at)).map_or(!OTHERS, |byte| set[usize::from(*byte)]);
        let mut left = begins & allowed(next);
        if left == 0 && next > at {
            next = line_end_at(text, next);
            left = begins & allowed(next) & !OTHERS;
        }
        begins = left;
        next += 1;
    }
    begins
}

/// The longest credential at `at` of the formats in `begins`, those whose first bytes are there.
pub(super) fn credential_at(
    reading: &mut ScannedText<'_>,
    at: usize,
    begins: u64,
) -> Option<Range<usize>> {
    let is_word_start = reading.is_word_start(at);
    if begins & MIDDLES == 0 && !is_word_start {
        return None;
    }
    let mut left = begins & !OTHERS;
    let mut longest: Option<Range<usize>> = None;
    while left != 0 {
        let bit = left.trailing_zeros() as usize;
        left &= left - 1;
        for format in FORMATS[bit..].iter().step_by(FORMAT_BITS) {
            if format.before.is_none() && !is_word_start {
                continue;
            }
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
    /// Adds the bytes that the pattern can have at one of its first three positions.
    const fn add_to(&self, sets: &mut [u64; 256], position: usize, bit: u64) {
        let (mut rest, mut before) = (self.pattern, position);
        loop {
            let (part, after) = next_part(rest);
            match part {
                PatternPart::Set(mut set) if before == 0 => {
                    while let [byte, after @ ..] = set {
                        sets[*byte as usize] |= bit;
                        if self.any_case {
                            sets[byte.to_ascii_lowercase() as usize] |= bit;
                            sets[byte.to_ascii_uppercase() as usize] |= bit;
                        }
                        set = after;
                    }
                    return;
                }
                PatternPart::Set(_) => before -= 1,
                PatternPart::ByteRun(run) if before < run.min => {
                    let mut byte = 0;
                    while byte < 256 {
                        if run.class.bytes.has(byte as u8) {
                            sets[byte] |= bit;
                        }
                        byte += 1;
                    }
                    return;
                }
                PatternPart::ByteRun(_) => panic!("the first three bytes have to be certain"),
            }
            rest = after;
        }
    }

    fn is_in(&self, set: &[u8], byte: u8) -> bool {
        let is_same =
            |other: &u8| *other == byte || self.any_case && other.eq_ignore_ascii_case(&byte);
        set.iter().any(is_same)
    }

    /// The credential whose certain bytes begin at `at`, if it is one: with what line ends cut off of it, or up to there.
    fn found_at(&self, reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
        reading.lines_left = LINE_ENDS_MAX;
        let found = self.found(reading, at);
        if found.is_none() && reading.lines_left < LINE_ENDS_MAX {
            reading.lines_left = 0;
            return self.found(reading, at);
        }
        found
    }

    fn found(&self, reading: &mut ScannedText<'_>, at: usize) -> Option<Range<usize>> {
        let mut start = at;
        if let Some(run) = self.before {
            let most = run.max.unwrap_or(RUN_BYTES_READ_MAX);
            while start > reading.from
                && at - start < most
                && run.class.bytes.has(reading.text[start - 1])
            {
                start -= 1;
            }
            if at - start < run.min || run.class.letter != b'd' && !reading.is_word_start(start) {
                return None;
            }
        }
        let mut end = at;
        let mut rest = self.pattern;
        let mut body = None;
        let mut endless = None;
        // A form whose length is known is one without a digit, too.
        let mut is_fixed = self.before.is_none();
        while !rest.is_empty() {
            let (part, after) = next_part(rest);
            rest = after;
            match part {
                PatternPart::Set(set) => end = reading.step(end, |next| self.is_in(set, next))?,
                PatternPart::ByteRun(run) => {
                    body.get_or_insert(end);
                    is_fixed &= run.max == Some(run.min);
                    let most = match run.max {
                        Some(max) => max,
                        None if rest.is_empty() => run.min.max(RUN_BYTES_READ_MAX),
                        // Such a run is only read from the start of a word, so that no byte is read from two starts.
                        None if reading.is_strict_start(start) => usize::MAX,
                        None => return None,
                    };
                    let count;
                    (end, count) = reading.run_over_lines(end, (run.min, most), &run.class.bytes);
                    if count < run.min {
                        return None;
                    }
                    if run.max.is_none() && rest.is_empty() {
                        endless = Some(run.class);
                    }
                }
            }
        }
        if endless.is_none() && !reading.is_word_end(end) {
            return None;
        }
        let body = if self.before.is_some() { start } else { body? };
        let shown = reading.value(body, end.min(body + RUN_BYTES_READ_MAX));
        let is_key = (!self.needs_digit
            || shown.iter().any(u8::is_ascii_digit)
            || is_fixed && shown.iter().any(u8::is_ascii_uppercase) && !looks::is_of_words(shown))
            && (!self.needs_run || looks::is_no_words(shown))
            && looks::entropy_tenths(shown) >= self.entropy_tenths_min;
        if !is_key {
            return None;
        }
        if let Some(class) = endless {
            end = reading
                .run_over_lines(end, (0, usize::MAX), &class.goes_on)
                .0;
        }
        Some(start..end)
    }
}

const fn parse_formats() -> [CredentialFormat; FORMATS_COUNT] {
    let mut formats = [const {
        CredentialFormat {
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
        let (_name, fields) = next_word(entry);
        let (pattern, mut options) = next_word(fields);
        let format = &mut formats[at];
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
                class: RunClass::of(*class),
                min,
                max,
            };
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
        [_, ..] => {
            let (byte, after) = pattern.split_at(1);
            (PatternPart::Set(byte), after)
        }
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
