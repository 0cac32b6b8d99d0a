//! Passages of files, by which a text is recognised that shows a part of one, however it is laid out.
//!
//! Only letters and digits are compared: case, white space, line ends, punctuation, escapes and colours don't count, so joined, folded,
//! cut, quoted, numbered and capitalised lines are one thing. They are looked up by windows that begin where a word does. A text is read
//! once, without a branch on what its bytes are; what stands between its words is looked at where they are known.

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

/// Letters that whatever is no window is looked for by.
const HEAD: usize = 6;

/// Letters of a word that begins a window.
const WORD_MIN: usize = 3;

/// Letters of a telling word in code: shorter ones are names such as `sha256sum`.
const CODE_TELLING: usize = 12;

/// Letters of a whole line of settings, and of a value that its name calls a credential.
const LINE: Range<usize> = 8..48;
const VALUE: Range<usize> = HEAD..48;

/// What a letter weighs in a line of settings, and what a telling word does.
const LINE_WEIGHT: usize = 3;
const TELLING_WEIGHT: usize = 64;

/// How far apart windows of one passage are at most, in letters: in the text, where a path and a number may stand between them, and in
/// the file, where lines may be longer.
const TEXT_GAP_MAX: usize = 48;
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
    /// Bits of these hashes, sixteen for each: most of a text is passed over by them.
    filter: Vec<u64>,
    files: Vec<File>,
    letters: u32,
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
    /// What all others begin with.
    Head,
    Telling,
    Line,
    Value,
}

const fn mixed(one: u64, other: u64) -> u64 {
    let product =
        (one ^ 0x9e37_79b9_7f4a_7c15) as u128 * (other.wrapping_add(0xd6e8_feb8_6659_fd93)) as u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Words of the filter, at least.
const FILTER_MIN: usize = 2048;

/// Where a hash has its bit in a filter of so many words, a power of two.
const fn bit_of(hash: u64, words: usize) -> (usize, u64) {
    ((hash >> 24) as usize & (words - 1), 1 << (hash >> 58))
}

impl Passages {
    /// Adds a file's text. A line of settings or a key tells more than one of code.
    pub fn add(&mut self, path: &RelPath, text: &str, is_code: bool) {
        let read = Letters::of(text);
        let from = self.letters;
        let end = u32::try_from(read.len)
            .ok()
            .and_then(|it| from.checked_add(it));
        let Some(end) = end.filter(|it| *it < SHARED) else {
            return;
        };
        self.files.push(File {
            path: path.clone(),
            from,
            is_code,
        });
        self.letters = end;
        let words = self.filter.len().max(FILTER_MIN);
        self.filter.resize(words, 0);
        let mut add = |unit: Unit, letters: Range<usize>| {
            let at = from + u32::try_from(letters.start).unwrap_or_default();
            let hash = read.hash(unit, letters);
            let (word, bit) = bit_of(hash, words);
            self.filter[word] |= bit;
            let entry = self
                .known
                .entry(hash, |known| known.0 == hash, |known| known.0);
            entry.or_insert((hash, at));
        };
        for word in 0..read.word_count() {
            let start = read.start(word);
            if read.begins_window(word) {
                add(Unit::Window, start..start + WINDOW);
            }
            let mut add = |unit, letters| {
                add(Unit::Head, start..start + HEAD);
                add(unit, letters);
            };
            let edge = read.edge(word);
            let group = start..read.end_of(word, Edge::Group);
            let letters = |range: &Range<usize>| read.bytes[range.clone()].iter();
            let digits =
                |range: &Range<usize>| letters(range).filter(|it| it.is_ascii_digit()).count();
            let is_secret = edge >= Edge::Group && read.is_credential(word);
            let is_quoted = read.is_quoted(word);
            if is_secret
                && VALUE.contains(&group.len())
                && (!is_code || is_quoted && digits(&group) > 0)
            {
                add(Unit::Value, group.clone());
            }
            let telling = start..start + TELLING;
            if telling.end <= group.end {
                let tells = (1..=TELLING - 3).contains(&digits(&telling)) || is_secret;
                if tells && (!is_code || is_quoted && group.len() >= CODE_TELLING) {
                    add(Unit::Telling, telling);
                }
            }
            if is_code || edge < Edge::Line {
                continue;
            }
            let line = start..read.end_of(word, Edge::Line);
            if LINE.contains(&line.len()) {
                let from = text[..read.place(word)].rfind('\n').map_or(0, |at| at + 1);
                let said = text[from..].lines().next().unwrap_or_default();
                let parts = said.split_once('=').or_else(|| said.split_once(':'));
                let (name, value) = parts.unwrap_or((said, said));
                if !value.trim().is_empty() && !name.trim().contains(char::is_whitespace) {
                    add(Unit::Line, line);
                }
            }
        }
        if words * 4 < self.known.len() {
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
        self.look_up(&Letters::of(text), |unit, _, known| {
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
    fn look_up(&self, read: &Letters<'_>, mut found: impl FnMut(Unit, Range<usize>, &(u64, u32))) {
        if self.is_empty() {
            return;
        }
        let mut look = |unit: Unit, letters: Range<usize>| {
            let hash = read.hash(unit, letters.clone());
            if let Some(known) = self.known.find(hash, |known| known.0 == hash) {
                found(unit, letters, known);
            }
        };
        let may_have = |hash: u64| {
            let (word, bit) = bit_of(hash, self.filter.len());
            self.filter[word] & bit != 0
        };
        for word in 0..read.word_count() {
            let start = read.start(word);
            if may_have(read.window(start)) && read.begins_window(word) {
                look(Unit::Window, start..start + WINDOW);
            }
            if !may_have(read.head(start)) {
                continue;
            }
            if start + TELLING <= read.len {
                look(Unit::Telling, start..start + TELLING);
            }
            if read.may_begin_line(word) {
                let line = start..read.end_of(word, Edge::Line);
                if LINE.contains(&line.len()) {
                    look(Unit::Line, line);
                }
            }
            if read.edge(word) >= Edge::Group {
                let group = start..read.end_of(word, Edge::Group);
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
        self.look_up(&read, |unit, letters, known| {
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
                None => runs.push(Run::of(letters, at, weight)),
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

/// What a text and a file have in common, as far as it goes on in both.
#[derive(Default)]
struct Run {
    letters: Range<usize>,
    /// Up to where its letters are weighed.
    weighed: usize,
    /// Where it has got to in the files.
    at: usize,
    weight: usize,
    /// Where it has been in the files, roughly: an idiom that is repeated shows no more than once.
    been: u128,
}

impl Run {
    fn of(letters: Range<usize>, at: usize, weight: usize) -> Self {
        let mut run = Self {
            letters: letters.clone(),
            ..Self::default()
        };
        run.add(letters, at, weight);
        run
    }

    fn is_near(&self, start: usize, at: usize) -> bool {
        start < self.letters.end + TEXT_GAP_MAX && self.at.abs_diff(at) < GAP_MAX
    }

    fn add(&mut self, letters: Range<usize>, at: usize, weight: usize) {
        let here = 1 << (at / 4 % 128);
        // What stands between speaks against it.
        let gap = letters.start.saturating_sub(self.letters.end);
        self.weight = self.weight.saturating_sub(gap / 3);
        if weight > WINDOW || weight > 0 && self.been & here == 0 {
            let is_known = self.weighed.saturating_sub(letters.start);
            self.weight += weight.saturating_sub(is_known);
            self.weighed = self.weighed.max(letters.end);
            self.been |= here;
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

/// A text's letters and digits, in lower case. A word is letters, or digits, that follow one another.
struct Letters<'t> {
    text: &'t str,
    /// Some more than there are, so that each can be read as a number.
    bytes: Vec<u8>,
    len: usize,
    /// Each word's first letter, and its place in the text above 32 bits; then the end.
    words: Vec<u64>,
}

/// How much of a text is read before there is room made for more.
const READ_BYTES: usize = 1024;

/// How far in front of a value its name is looked for.
const NAME_CHARS_MAX: usize = 80;

impl<'t> Letters<'t> {
    fn of(text: &'t str) -> Self {
        let read = text.as_bytes();
        let mut bytes = Vec::with_capacity(read.len() + WINDOW);
        let mut words = Vec::with_capacity(read.len() / 5);
        let (mut at, mut before) = (0, 0);
        // What isn't counted is written over.
        let (mut letters, mut begun) = ([0; READ_BYTES], [0; READ_BYTES]);
        while at < read.len() {
            let (mut len, mut count) = (0, 0);
            let end = read.len().min(at + READ_BYTES);
            while at < end {
                let [folded, kind] = FOLDED[usize::from(read[at])];
                if kind == ESCAPE {
                    at += escape(&read[at..]).0;
                    before = 0;
                    continue;
                }
                letters[len % READ_BYTES] = folded;
                begun[count % READ_BYTES] = (at as u64) << 32 | (bytes.len() + len) as u64;
                count += usize::from(kind != before && kind > 0);
                len += usize::from(kind > 0);
                before = kind;
                at += 1;
            }
            bytes.extend_from_slice(&letters[..len]);
            words.extend_from_slice(&begun[..count]);
        }
        let len = bytes.len();
        bytes.resize(len + WINDOW, 0);
        words.push((read.len() as u64) << 32 | len as u64);
        Self {
            text,
            bytes,
            len,
            words,
        }
    }

    const fn word_count(&self) -> usize {
        self.words.len() - 1
    }

    /// A word's first letter among the letters.
    fn start(&self, word: usize) -> usize {
        (self.words[word] & u64::from(u32::MAX)) as usize
    }

    /// A word's place in the text.
    fn place(&self, word: usize) -> usize {
        (self.words[word] >> 32) as usize
    }

    /// Eight letters.
    fn number(&self, from: usize) -> u64 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.bytes[from..from + 8]);
        u64::from_le_bytes(eight)
    }

    fn window(&self, from: usize) -> u64 {
        mixed(self.number(from), self.number(from + WINDOW - 8))
    }

    fn head(&self, from: usize) -> u64 {
        mixed(self.number(from) << (64 - 8 * HEAD), u64::MAX)
    }

    fn hash(&self, unit: Unit, letters: Range<usize>) -> u64 {
        match unit {
            Unit::Window => self.window(letters.start),
            Unit::Head => self.head(letters.start),
            Unit::Telling => mixed(self.number(letters.start), u64::MAX),
            Unit::Line | Unit::Value => quick_hash(&self.bytes[letters]) ^ unit as u64,
        }
    }

    /// Whether a window begins with a word: short ones begin none.
    fn begins_window(&self, word: usize) -> bool {
        let start = self.start(word);
        self.start(word + 1) - start >= WORD_MIN && start + WINDOW <= self.len
    }

    /// What stands in front of a word, up to the one before.
    fn gap(&self, word: usize) -> &'t [u8] {
        let before = word.checked_sub(1);
        let from = before.map_or(0, |it| self.place(it) + self.start(word) - self.start(it));
        &self.text.as_bytes()[from..self.place(word)]
    }

    fn edge(&self, word: usize) -> Edge {
        let mut gap = self.gap(word);
        let mut edge = match word {
            0 => Edge::Line,
            _ => Edge::Inner,
        };
        while let [byte, ..] = gap {
            let (length, of) = match byte {
                b'\n' | b'\r' => (1, Edge::Line),
                _ if FOLDED[usize::from(*byte)][1] == ESCAPE => escape(gap),
                _ if INNER.contains(byte) => (1, Edge::Inner),
                _ => (1, Edge::Group),
            };
            edge = edge.max(of);
            gap = &gap[length..];
        }
        edge
    }

    /// Whether a line of a file may begin with a word: what is in front may be a number or a path.
    fn may_begin_line(&self, word: usize) -> bool {
        let before = self.start(word).checked_sub(1);
        before.is_some_and(|at| self.bytes[at].is_ascii_digit())
            || self.gap(word).contains(&b':')
            || self.edge(word) == Edge::Line
    }

    /// Where the group or line ends that a word is in; far ends aren't looked for.
    fn end_of(&self, word: usize, edge: Edge) -> usize {
        let end_max = self.start(word) + LINE.end.max(VALUE.end);
        let after = word + 1..self.word_count();
        let mut after = after.take_while(|it| self.start(*it) <= end_max);
        let end = after.find(|it| self.edge(*it) >= edge);
        end.map_or(end_max.min(self.len), |it| self.start(it))
    }

    /// Whether the group that a word is in follows a quote.
    fn is_quoted(&self, word: usize) -> bool {
        let mut first = (0..=word).rev().take(LINE.end);
        let first = first.find(|it| self.edge(*it) >= Edge::Group);
        let mark = first.and_then(|it| self.gap(it).last());
        mark.is_some_and(|it| b"\"'`".contains(it))
    }

    /// Whether a word begins the value of a credential, by the name before it, or a password in a URL.
    fn is_credential(&self, word: usize) -> bool {
        let before = &self.text[..self.place(word)];
        let far = before.char_indices().rev().take(NAME_CHARS_MAX).last();
        let near = &before[far.map_or(0, |(at, _)| at)..];
        let line = near.rsplit('\n').next().unwrap_or_default();
        let before = line.trim_end_matches([' ', '\t', '"', '\'', '`']);
        before.ends_with(['=', ':']) && (redact::names_credential(before) || before.contains("://"))
    }

    /// The place in the text of a letter.
    fn at(&self, letter: usize) -> usize {
        let words = &self.words[..self.word_count()];
        let word = words.partition_point(|word| *word & u64::from(u32::MAX) <= letter as u64) - 1;
        self.place(word) + letter - self.start(word)
    }
}

/// Marks that hold words together.
const INNER: &[u8] = b"-_.+/~#$!*^";

/// A kind of byte that begins an escape. Letters and digits are the others, and nothing is zero.
const ESCAPE: u8 = 3;

/// Letters and digits in lower case, each with its kind.
static FOLDED: [[u8; 2]; 256] = {
    let mut folded = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        let kind = match byte as u8 {
            b'\\' | b'%' | b'&' | 0x1b | 0xc2 | 0xe2 => ESCAPE,
            b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => 1,
            b'0'..=b'9' => 2,
            _ => 0,
        };
        folded[byte] = [byte as u8 | 0x20, kind];
        byte += 1;
    }
    folded
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

/// A range with the lines that it is in, as far as they aren't long.
fn with_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let mut first = range.start.saturating_sub(BESIDE_MAX);
    let mut last = text.len().min(range.end + BESIDE_MAX);
    while !text.is_char_boundary(first) {
        first += 1;
    }
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    // The range itself may end within a character.
    let (before, after) = (
        &text.as_bytes()[first..range.start],
        &text.as_bytes()[range.end..last],
    );
    let start = memchr::memrchr(b'\n', before).map_or(first, |at| first + at + 1);
    start..memchr::memchr(b'\n', after).map_or(last, |at| range.end + at + 1)
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
    fn printed_by_tools() {
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

    /// Lines that other files have as well do not count.
    #[test]
    fn common_lines() {
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
