//! Passages of files, by which a text is recognised that shows a part of one, however it is laid out.
//!
//! Only letters and digits are compared: case, white space, line ends, punctuation, escapes and colours don't count, so joined, folded,
//! cut, quoted, numbered and capitalised lines are one thing. They are looked up by windows that begin where a word does.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashTable;

use crate::hash::quick_hash;
use crate::path::RelPath;
use crate::redact;
use crate::scope::is_meant;

/// Letters of a window, and of one within a word that tells enough alone: a key, a token.
const WINDOW: usize = 12;
const TELLING: usize = 8;

/// Words of the bits by which most of a text is passed over, at least; a power of two.
const FILTER_MIN: usize = 64;

/// Letters of a word that begins a window.
const WORD_MIN: usize = 3;

/// Letters of a telling word in code: shorter ones are names such as `sha256sum`.
const CODE_TELLING: usize = 12;

/// Letters of a whole line of settings, and of a value that its name calls a credential.
const LINE: Range<usize> = 8..48;
const VALUE: Range<usize> = 6..48;

/// What a letter weighs in a line of settings, and what a telling word does.
const LINE_WEIGHT: usize = 3;
const TELLING_WEIGHT: usize = 64;

/// How far apart windows of one passage are at most, in letters: in the text, where a path and a number may stand between them, and in
/// the file, where lines may be longer.
const TEXT_GAP_MAX: usize = 32;
const GAP_MAX: usize = 160;

/// Passages that are read at the same time.
const OPEN_MAX: usize = 4;

/// How much of a line goes with a passage on each side of it, in bytes.
const BESIDE_MAX: usize = 200;

/// In the place of a window: a file that isn't off has it as well.
const SHARED: u32 = 1 << 31;

/// Passages of some files.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// What is looked up, by its hash, with its place in all letters of the files.
    known: HashTable<(u64, u32)>,
    /// Bits of these hashes: most of a text is passed over by them.
    filter: Vec<u64>,
    files: Vec<File>,
    letters: u32,
    /// Which kinds there are.
    units: u64,
}

#[derive(Clone, Debug)]
struct File {
    path: RelPath,
    /// Its first letter among all.
    from: u32,
    is_code: bool,
}

/// How much it takes for a text's lines to count as a file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    /// A call names files by a pattern that means one of them, or says by its name that it prints none.
    Meant,
    /// Nothing speaks for another file.
    Any,
    /// A call names another file, whose own lines some may be.
    Foreign,
    /// A person wrote the text.
    Typed,
}

impl Suspicion {
    /// Letters and digits, in no file that isn't off, that a passage has at least.
    const fn weight_min(self) -> usize {
        match self {
            Self::Meant => 8,
            Self::Any => 32,
            Self::Foreign => 64,
            Self::Typed => 96,
        }
    }
}

/// What is looked up.
#[derive(Clone, Copy)]
enum Unit {
    Window,
    Telling,
    Line,
    Value,
}

impl Unit {
    fn hash(self, letters: &[u8]) -> u64 {
        // The bytes of a window are two numbers.
        let number = |letters: &[u8]| Some(u64::from_le_bytes(letters.get(..8)?.try_into().ok()?));
        let numbers = match (self, letters.len()) {
            (Self::Window, WINDOW) => number(letters).zip(number(&letters[WINDOW - 8..])),
            (Self::Telling, TELLING) => number(letters).map(|it| (it, u64::MAX)),
            _ => None,
        };
        match numbers {
            Some((one, other)) => mixed(one, other),
            None => quick_hash(letters) ^ self as u64,
        }
    }
}

const fn mixed(one: u64, other: u64) -> u64 {
    let product =
        (one ^ 0x9e37_79b9_7f4a_7c15) as u128 * (other.wrapping_add(0xd6e8_feb8_6659_fd93)) as u128;
    (product as u64) ^ ((product >> 64) as u64)
}

impl Passages {
    /// Adds a file's text. A line of settings or a key tells more than one of code.
    pub fn add(&mut self, path: &RelPath, text: &str, is_code: bool) {
        let read = Letters::of(text);
        let from = self.letters;
        let end = u32::try_from(read.bytes.len()).ok();
        let Some(end) = end
            .and_then(|it| from.checked_add(it))
            .filter(|it| *it < SHARED)
        else {
            return;
        };
        self.files.push(File {
            path: path.clone(),
            from,
            is_code,
        });
        self.letters = end;
        self.filter.resize(self.filter.len().max(FILTER_MIN), 0);
        let mut add = |unit: Unit, letters: Range<usize>| {
            let at = from + u32::try_from(letters.start).unwrap_or_default();
            self.units |= 1 << unit as u64;
            let hash = unit.hash(&read.bytes[letters]);
            let (word, bit) = bit_of(hash, self.filter.len());
            self.filter[word] |= bit;
            let entry = self
                .known
                .entry(hash, |known| known.0 == hash, |known| known.0);
            entry.or_insert((hash, at));
        };
        for at in 0..read.words.len() {
            let start = read.words[at].start();
            if read.begins_window(at) {
                add(Unit::Window, start..start + WINDOW);
            }
            let group = start..read.end_of(at, Edge::Group);
            let is_secret = read.words[at].edge >= Edge::Group && read.is_credential(text, at);
            let is_quoted = read.is_quoted(text, at);
            if is_secret && VALUE.contains(&group.len()) && (is_quoted || !is_code) {
                add(Unit::Value, group.clone());
            }
            let telling = start..start + TELLING;
            if telling.end <= group.end {
                let letters = &read.bytes[telling.clone()];
                let digits = letters.iter().filter(|it| it.is_ascii_digit()).count();
                let tells = (1..=TELLING - 3).contains(&digits) || is_secret;
                if tells && (!is_code || is_quoted && group.len() >= CODE_TELLING) {
                    add(Unit::Telling, telling);
                }
            }
            if is_code || read.words[at].edge < Edge::Line {
                continue;
            }
            let line = start..read.end_of(at, Edge::Line);
            if LINE.contains(&line.len()) {
                let said = line_of(text, read.words[at].at());
                let (name, value) = setting(said).unwrap_or((said, said));
                if !value.trim().is_empty() && !name.trim().contains(char::is_whitespace) {
                    add(Unit::Line, line);
                }
            }
        }
        // Sixteen bits for each, at least.
        if self.filter.len() * 4 < self.known.len() {
            self.filter = vec![0; self.known.len().next_power_of_two()];
            for (hash, _) in &self.known {
                let (word, bit) = bit_of(*hash, self.filter.len());
                self.filter[word] |= bit;
            }
        }
    }

    /// What a file that isn't off has as well says nothing of those that are. A copy of one of them spares only what isn't a setting
    /// or a key.
    pub fn spare(&mut self, text: &str) {
        let mut found = Vec::new();
        self.look_up(&Letters::of(text), &mut |unit, _, known| {
            found.push((unit, *known))
        });
        let mut spared = vec![0_usize; self.files.len()];
        for (_, (_, at)) in &found {
            spared[self.file_at(*at)] += WINDOW / 2;
        }
        for (unit, (hash, at)) in found {
            let index = self.file_at(at);
            let file = &self.files[index];
            let end = self
                .files
                .get(index + 1)
                .map_or(self.letters, |next| next.from);
            let is_copy = spared[index] * 2 > (end - file.from) as usize;
            if (matches!(unit, Unit::Window) || file.is_code || !is_copy)
                && let Some(known) = self.known.find_mut(hash, |known| known.0 == hash)
            {
                known.1 |= SHARED;
            }
        }
    }

    /// Whether a pattern means one of the files.
    #[must_use]
    pub fn is_any_meant(&self, pattern: &str) -> bool {
        let mut files = self.files.iter();
        files.any(|file| is_meant(pattern, file.path.as_str()))
    }

    /// Whether nothing is known of any file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn file_at(&self, at: u32) -> usize {
        let after = self.files.partition_point(|file| file.from <= at & !SHARED);
        after.saturating_sub(1)
    }

    /// Hands out what a text has in common with the files: what it is, its letters, and what is known of it.
    fn look_up(&self, read: &Letters, found: &mut dyn FnMut(Unit, Range<usize>, &(u64, u32))) {
        if self.is_empty() {
            return;
        }
        let mut look = |unit: Unit, letters: Range<usize>| {
            let hash = unit.hash(&read.bytes[letters.clone()]);
            let (word, bit) = bit_of(hash, self.filter.len());
            if self.filter[word] & bit == 0 {
                return;
            }
            if let Some(known) = self.known.find(hash, |known| known.0 == hash) {
                found(unit, letters, known);
            }
        };
        let has = |unit: Unit| self.units & 1 << unit as u64 != 0;
        let (has_telling, has_lines, has_values) =
            (has(Unit::Telling), has(Unit::Line), has(Unit::Value));
        for (at, word) in read.words.iter().enumerate() {
            let start = word.start();
            if read.begins_window(at) {
                look(Unit::Window, start..start + WINDOW);
            }
            if has_telling && start + TELLING <= read.bytes.len() {
                look(Unit::Telling, start..start + TELLING);
            }
            if has_lines && word.begins_line {
                let line = start..read.end_of(at, Edge::Line);
                if LINE.contains(&line.len()) {
                    look(Unit::Line, line);
                }
            }
            if has_values && word.edge >= Edge::Group {
                let group = start..read.end_of(at, Edge::Group);
                if VALUE.contains(&group.len()) {
                    look(Unit::Value, group);
                }
            }
        }
    }

    /// The ranges of a text that show a part of one of the files, each with the file.
    #[must_use]
    pub fn shown_in(&self, text: &str, suspicion: Suspicion) -> Vec<(Range<usize>, &RelPath)> {
        if self.is_empty() {
            return Vec::new();
        }
        let read = Letters::of(text);
        let mut runs: Vec<Run> = Vec::new();
        self.look_up(&read, &mut |unit, letters, known| {
            let at = known.1;
            let weight = match unit {
                _ if at & SHARED != 0 => 0,
                Unit::Line if suspicion != Suspicion::Typed => letters.len() * LINE_WEIGHT,
                Unit::Telling | Unit::Value if suspicion != Suspicion::Typed => TELLING_WEIGHT,
                _ => letters.len(),
            };
            let at = (at & !SHARED) as usize;
            let mut open = runs.iter_mut().rev().take(OPEN_MAX);
            match open.find(|run| run.is_near(letters.start, at)) {
                Some(run) => run.add(letters, at, weight),
                None => runs.push(Run::new(letters, at, weight)),
            }
        });
        runs.retain(|run| run.weight >= suspicion.weight_min());
        // What stands between two passages of one place is of it.
        runs.sort_by_key(|run| run.letters.start);
        runs.dedup_by(|next, run| {
            let goes_on = run.is_near(next.letters.start, next.at);
            if goes_on {
                run.letters.end = run.letters.end.max(next.letters.end);
                run.at = next.at;
            }
            goes_on
        });
        let found = runs.into_iter().map(|run| {
            let range = read.at(run.letters.start)..read.at(run.letters.end - 1) + 1;
            let file = self.file_at(u32::try_from(run.at).unwrap_or_default());
            (with_lines(text, range), &self.files[file].path)
        });
        found.collect()
    }
}

/// Where a hash has its bit in a filter of so many words, a power of two.
const fn bit_of(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 24) as usize & (words - 1), 1 << (hash >> 58))
}

/// What a text and a file have in common, as far as it goes on in both.
struct Run {
    letters: Range<usize>,
    /// Up to where its letters are weighed.
    weighed: usize,
    /// Where it has got to in the files.
    at: usize,
    weight: usize,
}

impl Run {
    fn new(letters: Range<usize>, at: usize, weight: usize) -> Self {
        let weighed = if weight > 0 { letters.end } else { 0 };
        Self {
            letters,
            weighed,
            at,
            weight,
        }
    }

    fn is_near(&self, start: usize, at: usize) -> bool {
        start < self.letters.end + TEXT_GAP_MAX && self.at.abs_diff(at) < GAP_MAX
    }

    fn add(&mut self, letters: Range<usize>, at: usize, weight: usize) {
        if weight > 0 {
            let is_known = self.weighed.saturating_sub(letters.start);
            self.weight += weight.saturating_sub(is_known);
            self.weighed = self.weighed.max(letters.end);
        }
        self.letters.end = self.letters.end.max(letters.end);
        self.at = at;
    }
}

/// What is between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    /// Nothing, or a mark that holds words together.
    Inner,
    /// White space, quotes, other marks.
    Group,
    Line,
}

/// Letters, or digits, that follow one another.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Among the letters.
    start: u32,
    /// In the text.
    at: u32,
    edge: Edge,
    /// Whether a line of a file may begin here: what is in front may be a number or a path.
    begins_line: bool,
}

impl Word {
    const fn start(self) -> usize {
        self.start as usize
    }

    const fn at(self) -> usize {
        self.at as usize
    }
}

/// A text's letters and digits, in lower case.
struct Letters {
    bytes: Vec<u8>,
    words: Vec<Word>,
}

/// How far in front of a value its name is looked for.
const NAME_CHARS_MAX: usize = 80;

/// Places in a line behind marks where a line of a file may begin.
const MARKS_MAX: u8 = 4;

impl Letters {
    fn of(text: &str) -> Self {
        let text = text.as_bytes();
        let mut bytes = vec![0; text.len()];
        let mut words: Vec<Word> = Vec::with_capacity(text.len() / 6);
        let (mut edge, mut marks, mut is_marked) = (Edge::Line, 0, false);
        let (mut at, mut letters) = (0, 0);
        while at < text.len() {
            let class = CLASSES[usize::from(text[at])];
            match class {
                Class::Letter | Class::Digit => {
                    if edge == Edge::Line {
                        marks = MARKS_MAX;
                    }
                    let begins_line = edge == Edge::Line || is_marked && marks > 0;
                    marks -= u8::from(begins_line);
                    words.push(Word {
                        start: u32::try_from(letters).unwrap_or(u32::MAX),
                        at: u32::try_from(at).unwrap_or(u32::MAX),
                        edge,
                        begins_line,
                    });
                    while at < text.len() && CLASSES[usize::from(text[at])] == class {
                        bytes[letters] = text[at] | 0x20;
                        (letters, at) = (letters + 1, at + 1);
                    }
                    (edge, is_marked) = (Edge::Inner, class == Class::Digit);
                    continue;
                }
                Class::Inner => {}
                Class::Group => {
                    edge = edge.max(Edge::Group);
                    is_marked |= text[at] == b':';
                }
                Class::Line => edge = Edge::Line,
                Class::Escape => {
                    let (length, of) = escape(&text[at..]);
                    edge = edge.max(of);
                    at += length - 1;
                }
            }
            at += 1;
        }
        bytes.truncate(letters);
        Self { bytes, words }
    }

    /// Whether a window begins with a word: short ones begin none.
    fn begins_window(&self, word: usize) -> bool {
        let start = self.words[word].start();
        let end = self
            .words
            .get(word + 1)
            .map_or(self.bytes.len(), |it| it.start());
        end - start >= WORD_MIN && start + WINDOW <= self.bytes.len()
    }

    /// Where the group or line ends that a word is in; far ends aren't looked for.
    fn end_of(&self, word: usize, edge: Edge) -> usize {
        let end_max = self.words[word].start() + LINE.end.max(VALUE.end);
        let after = self.words[word + 1..].iter();
        let mut after = after.take_while(|it| it.start() <= end_max);
        let end = after.find(|it| it.edge >= edge).map(|it| it.start());
        end.unwrap_or(end_max.min(self.bytes.len()))
    }

    /// Whether the group that a word is in follows a quote.
    fn is_quoted(&self, text: &str, word: usize) -> bool {
        let first = self.words[..=word].iter().rev().take(LINE.end);
        let first = first.into_iter().find(|it| it.edge >= Edge::Group);
        first.is_some_and(|it| text[..it.at()].ends_with(['"', '\'', '`']))
    }

    /// Whether a word begins the value of a credential, by the name before it, or a password in a URL.
    fn is_credential(&self, text: &str, word: usize) -> bool {
        let before = &text[..self.words[word].at()];
        let far = before.char_indices().rev().take(NAME_CHARS_MAX).last();
        let near = &before[far.map_or(0, |(at, _)| at)..];
        let line = near.rsplit('\n').next().unwrap_or_default();
        let before = line.trim_end_matches([' ', '\t', '"', '\'', '`']);
        before.ends_with(['=', ':']) && (redact::names_credential(before) || before.contains("://"))
    }

    /// The place in the text of a letter.
    fn at(&self, letter: usize) -> usize {
        let after = self.words.partition_point(|word| word.start() <= letter);
        let word = self.words[after - 1];
        word.at() + letter - word.start()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Inner,
    Group,
    Line,
    Escape,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Group; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\\' | b'%' | b'&' | 0x1b | 0xc2 | 0xe2 => Class::Escape,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\n' | b'\r' => Class::Line,
            b'-' | b'_' | b'.' | b'+' | b'/' | b'~' | b'#' | b'$' | b'!' | b'*' | b'^' => {
                Class::Inner
            }
            _ => Class::Group,
        };
        byte += 1;
    }
    classes
};

/// How long an escape is, and what it stands for: of strings, URLs and pages, colours, and signs that no keyboard has.
fn escape(text: &[u8]) -> (usize, Edge) {
    let is_hex = |from: usize, digits: usize| {
        let digits = text.get(from..from + digits);
        digits.is_some_and(|it| it.iter().all(u8::is_ascii_hexdigit))
    };
    match text {
        [b'\\', ..] => {
            let slashes = text.iter().take_while(|it| **it == b'\\').count();
            match text.get(slashes) {
                Some(b'n' | b'r') => (slashes + 1, Edge::Line),
                Some(b't') => (slashes + 1, Edge::Group),
                Some(b'u') if is_hex(slashes + 1, 4) => (slashes + 5, Edge::Group),
                Some(b'x') if is_hex(slashes + 1, 2) => (slashes + 3, Edge::Group),
                _ => (slashes, Edge::Group),
            }
        }
        [b'%', ..] if is_hex(1, 2) => (3, Edge::Group),
        [b'&', ..] => {
            let name = text[1..].iter().take_while(|it| it.is_ascii_alphanumeric());
            let length = name.take(6).count() + 1;
            let is_named = text.get(length) == Some(&b';');
            (if is_named { length + 1 } else { 1 }, Edge::Group)
        }
        [0x1b, b'[', ..] => {
            let end = text.iter().position(u8::is_ascii_alphabetic);
            (end.map_or(text.len(), |end| end + 1), Edge::Inner)
        }
        [0xc2, ..] => (2, Edge::Group),
        [0xe2, ..] => (3, Edge::Group),
        _ => (1, Edge::Group),
    }
}

/// The line at a place.
fn line_of(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |at| at + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// A line's name and value.
fn setting(line: &str) -> Option<(&str, &str)> {
    line.split_once('=').or_else(|| line.split_once(':'))
}

/// A range with the lines that it is in, as far as they aren't long.
fn with_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let mut first = range.start.saturating_sub(BESIDE_MAX);
    let mut last = range.end.saturating_add(BESIDE_MAX).min(text.len());
    while !text.is_char_boundary(first) {
        first += 1;
    }
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    let before = text.as_bytes()[first..range.start].iter();
    let start = before.rev().position(|it| *it == b'\n');
    let after = text.as_bytes()[range.end..last].iter();
    let end = after.copied().position(|it| it == b'\n');
    start.map_or(first, |back| range.start - back)..end.map_or(last, |on| range.end + on + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "# for the staging server\nAPI_KEY=abcd1234efgh\nPORT=80\nPASSWORD=hunter2\nRETRY_LIMIT=3\n";
    const CODE: &str = "import os\n\ndef rotate(ring, steps):\n    for step in range(steps):\n        ring.append(ring.pop())\n    return ring\n";
    const OTHER: &str = "import os\nimport sys\nfor step in range(steps):\n    pass\n";

    fn check(text: &str, suspicion: Suspicion, expected: &[&str]) {
        let mut set = Passages::default();
        set.add(&RelPath::from_normalised("k.env"), KEYS, false);
        set.add(&RelPath::from_normalised("r.py"), CODE, true);
        set.spare(OTHER);
        let shown = set.shown_in(text, suspicion);
        let shown: Vec<&str> = shown.into_iter().map(|(range, _)| &text[range]).collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_line_of_a_file_is_found_as_tools_print_it() {
        for line in [
            "API_KEY=abcd1234efgh\n",
            "     2\tAPI_KEY=abcd1234efgh\n",
            "x/k.env:2:API_KEY=abcd1234efgh\n",
            "api key = ABCD1234EFGH\n",
            "the key is abcd-1234-efgh, they say\n",
            "psql: hunter2 was refused\n",
            "12: RETRY_LIMIT=3\n",
            "ring.append(ring.pop()) return ring def rotate(ring, steps)\n",
        ] {
            check(&alloc::format!("a\n{line}b"), Suspicion::Any, &[line]);
        }
        check(
            "-API_KEY=abcd1234efgh\n+API_KEY=new",
            Suspicion::Any,
            &["-API_KEY=abcd1234efgh\n"],
        );
        let folded = "def rotate(ri\nng, steps): fo\nr step in rang\ne(steps): ring\n.append(ring.p\nop())\n";
        check(folded, Suspicion::Any, &[folded]);
    }

    #[test]
    fn what_other_files_have_as_well_is_no_part() {
        check(
            "import os\nimport sys\nfor step in range(steps):\n",
            Suspicion::Any,
            &[],
        );
        check("    return ring\n", Suspicion::Any, &[]);
        check("PORT=80\n", Suspicion::Any, &[]);
        check("API_KEY=abcd1234efgh\n", Suspicion::Typed, &[]);
        check(CODE, Suspicion::Foreign, &[CODE]);
    }
}
