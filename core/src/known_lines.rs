//! Finds known code in a text by its own lines, whatever is in front of them.
//!
//! A definition is in a text wherever its lines follow one another, each at the *end* of a line of the text. So line
//! numbers, diff signs, quotes, frames and indentation need no rules of their own: they are gutters, and all lines of
//! one definition have gutters of one kind.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::hash::quick_hash;
use crate::redact;

/// The lines of one definition, without indentation and blank lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownLines {
    lines: Vec<KnownLine>,
    /// The first line with the definition's name; those above it (comments, attributes) may be missing from a text.
    name_line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownLine {
    text: String,
    /// Where the marker is that replaced a credential, if one does: a text may hold the credential itself.
    credential: Option<Range<usize>>,
    /// Blank lines between this line and the one above it.
    blank_above: usize,
}

/// The part of a text that shows a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLines {
    /// From the end of the first line's gutter to the end of the last line.
    pub bytes: Range<usize>,
    /// The number of the definition's lines that are shown.
    pub line_count: usize,
    /// Whether all of them are shown, and not only those from the name on.
    pub is_whole: bool,
}

/// The identifier by which a text is searched for a symbol, such as `Foo` for `~Foo`; `None` if the name has none.
#[must_use]
pub fn identifier_in(name: &str) -> Option<&str> {
    identifiers(name)
        .map(|range| &name[range])
        .max_by_key(|identifier| identifier.len())
}

impl KnownLines {
    /// Reads a definition's text. `None` if no line has its name, so that no text could be searched for it.
    #[must_use]
    pub fn new(code: &str, name: &str) -> Option<Self> {
        let name = identifier_in(name)?;
        let mut lines = Vec::new();
        let mut blank_above = 0;
        for line in code.lines().map(str::trim) {
            if line.is_empty() {
                blank_above += 1;
                continue;
            }
            lines.push(KnownLine {
                text: line.into(),
                credential: redact::marker_in(line),
                blank_above,
            });
            blank_above = 0;
        }
        let has_name = |line: &KnownLine| identifiers(&line.text).any(|at| line.text[at] == *name);
        let is_code = |line: &KnownLine| {
            !COMMENT_STARTS
                .iter()
                .any(|start| line.text.starts_with(start))
        };
        let name_line = lines
            .iter()
            .position(|line| has_name(line) && is_code(line))
            .or_else(|| lines.iter().position(has_name))?;
        Some(Self { lines, name_line })
    }

    /// Whether the definition has a single line, which may be in a text by chance.
    #[must_use]
    pub fn is_one_line(&self) -> bool {
        self.lines.len() == 1
    }

    /// A hash over its characters but whitespace: texts that differ in layout alone have the same.
    #[must_use]
    pub fn visible_hash(&self) -> u64 {
        let chars = self.lines.iter().flat_map(|line| line.text.chars());
        let visible: String = chars.filter(|it| !it.is_whitespace()).collect();
        quick_hash(visible.as_bytes())
    }

    /// The part of the text that shows the definition with its name in line `at`, if it does.
    #[must_use]
    pub fn shown_at(&self, text: &TextLines<'_>, at: usize) -> Option<ShownLines> {
        let name_gutter = text.gutter(at, &self.lines[self.name_line])?;
        let mut last = at;
        let mut gutter = name_gutter;
        for (index, known) in self.lines.iter().enumerate().skip(self.name_line + 1) {
            let (line, found) = text.next_line(last, known, gutter)?;
            let is_first = index == self.name_line + 1;
            let agrees = same_gutter_kind(gutter, found)
                || (is_first && self.name_line == 0 && opens_code(gutter));
            if !agrees {
                return None;
            }
            (last, gutter) = (line, found);
        }
        if self.is_one_line() && !has_no_words(name_gutter) {
            return None;
        }
        if text.goes_on_after(last, name_gutter) {
            return None;
        }
        // Lines that a diff removes aren't shown as existing code.
        if gutter.trim() == "-" {
            return None;
        }
        let (first, first_gutter) = self.first_line(text, at, gutter);
        let above = self.name_line - first.lines_missing;
        let start = text.lines[first.at].start + first_gutter.len();
        Some(ShownLines {
            bytes: start..text.lines[last].end,
            line_count: self.lines.len() - self.name_line + above,
            is_whole: first.lines_missing == 0,
        })
    }

    /// The first line above the name's line that still belongs to the definition.
    fn first_line<'t>(
        &self,
        text: &TextLines<'t>,
        at: usize,
        gutter: &str,
    ) -> (FirstLine, &'t str) {
        let name_gutter = text
            .gutter(at, &self.lines[self.name_line])
            .unwrap_or_default();
        let mut first = FirstLine {
            at,
            lines_missing: self.name_line,
        };
        let mut first_gutter = name_gutter;
        for index in (0..self.name_line).rev() {
            let below = &self.lines[index + 1];
            let Some((line, found)) =
                text.line_above(first.at, &self.lines[index], below, first_gutter)
            else {
                break;
            };
            let belongs = same_gutter_kind(gutter, found) || (index == 0 && opens_code(found));
            if !belongs {
                break;
            }
            first = FirstLine {
                at: line,
                lines_missing: index,
            };
            first_gutter = found;
        }
        (first, first_gutter)
    }
}

struct FirstLine {
    at: usize,
    lines_missing: usize,
}

/// The starts of comments in the supported languages; a name in a comment doesn't mark the definition's line.
const COMMENT_STARTS: [&str; 5] = ["//", "/*", "*", "#", "\"\"\""];

/// A text, line by line.
pub struct TextLines<'t> {
    text: &'t str,
    /// Each line without its line end and the whitespace before that.
    lines: Vec<Range<usize>>,
}

impl<'t> TextLines<'t> {
    /// Splits a text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            lines.push(start..start + line.trim_end().len());
            start += line.len();
        }
        Self { text, lines }
    }

    /// The lines that have one of these words as an identifier, each with the word, in order; a line once for a word that repeats at once.
    pub fn with_words<'w>(&self, words: &WordSet<'w>) -> Vec<(usize, &'w str)> {
        let mut found: Vec<(usize, &'w str)> = Vec::new();
        if words.is_empty() {
            return found;
        }
        let mut line = 0;
        for identifier in identifiers(self.text) {
            let Some(word) = words.get(&self.text[identifier.clone()]) else {
                continue;
            };
            while self
                .lines
                .get(line + 1)
                .is_some_and(|next| next.start <= identifier.start)
            {
                line += 1;
            }
            if found.last() != Some(&(line, word)) {
                found.push((line, word));
            }
        }
        found
    }

    fn line(&self, at: usize) -> &'t str {
        &self.text[self.lines[at].clone()]
    }

    /// Whether the next line with text belongs to the definition whose name's line has this gutter: it is indented deeper.
    /// Without braces one version may be the beginning of another.
    fn goes_on_after(&self, last: usize, gutter: &str) -> bool {
        let is_blank = |line: &usize| self.blank_lines_left(*line, gutter, 1).is_some();
        let mut lines = (last + 1..self.lines.len()).skip_while(is_blank);
        let next = lines.next().map(|line| self.line(line));
        let rest = next.and_then(|next| next.split_at_checked(gutter.len()));
        rest.is_some_and(|(front, rest)| {
            same_gutter_kind(front, gutter) && (rest.starts_with('\t') || rest.starts_with("  "))
        })
    }

    /// The text before `known` in a line that ends with it.
    fn gutter(&self, at: usize, known: &KnownLine) -> Option<&'t str> {
        let line = self.line(at);
        match &known.credential {
            None => line.strip_suffix(known.text.as_str()),
            Some(credential) => {
                let rest = line.strip_suffix(&known.text[credential.end..])?;
                rest.find(&known.text[..credential.start])
                    .map(|at| &line[..at])
            }
        }
    }

    /// The line after `at` that ends with `known`, with its gutter; only blank lines may stand between.
    fn next_line(&self, at: usize, known: &KnownLine, gutter: &str) -> Option<(usize, &'t str)> {
        let mut blank_left = known.blank_above;
        for line in at + 1..self.lines.len() {
            if let Some(found) = self.gutter(line, known) {
                return Some((line, found));
            }
            blank_left = self.blank_lines_left(line, gutter, blank_left)?;
        }
        None
    }

    /// The line before `at` that ends with `known`; `below` is the known line in `at`.
    fn line_above(
        &self,
        at: usize,
        known: &KnownLine,
        below: &KnownLine,
        gutter: &str,
    ) -> Option<(usize, &'t str)> {
        let mut blank_left = below.blank_above;
        for line in (0..at).rev() {
            if let Some(found) = self.gutter(line, known) {
                return Some((line, found));
            }
            blank_left = self.blank_lines_left(line, gutter, blank_left)?;
        }
        None
    }

    /// The number of blank lines that may still follow this one, if it is blank: a listing shows only the gutter of a
    /// definition's blank lines.
    fn blank_lines_left(&self, line: usize, gutter: &str, blank_left: usize) -> Option<usize> {
        let is_blank =
            same_gutter_kind(self.line(line), gutter) && self.line(line).len() <= gutter.len() + 1;
        if is_blank {
            blank_left.checked_sub(1)
        } else {
            None
        }
    }
}

/// Whether two gutters are of one kind: equal except for whitespace, digits, and the sign that a search puts after a number.
fn same_gutter_kind(one: &str, other: &str) -> bool {
    let kind = |gutter: &str| -> Vec<char> {
        let signs = gutter
            .chars()
            .filter(|c| !c.is_whitespace() && !c.is_ascii_digit());
        signs.map(|c| if c == '-' { ':' } else { c }).collect()
    };
    kind(one) == kind(other)
}

/// Whether code may begin in the middle of a line after this: a tag, a quote, a bracket.
fn opens_code(gutter: &str) -> bool {
    gutter.ends_with(['"', '\'', '`', '>', '(', '=', ':'])
}

/// Whether a gutter has no words in it.
fn has_no_words(gutter: &str) -> bool {
    !gutter.chars().any(char::is_alphabetic)
}

/// A set of words to search texts for. One bit rules out most identifiers of a text.
#[derive(Debug, Default)]
pub struct WordSet<'w> {
    words: BTreeMap<&'w str, ()>,
    bits: Vec<u64>,
}

const WORD_BITS: usize = 1 << 16;

impl<'w> WordSet<'w> {
    /// Collects the words.
    pub fn new(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut set = Self {
            words: words.into_iter().map(|word| (word, ())).collect(),
            bits: Vec::new(),
        };
        if !set.words.is_empty() {
            set.bits.resize(WORD_BITS / 64, 0);
            for word in set.words.keys() {
                let bit = bit_of(word);
                set.bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        set
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn get(&self, word: &str) -> Option<&'w str> {
        let bit = bit_of(word);
        if self.bits[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        self.words.get_key_value(word).map(|(word, ())| *word)
    }
}

fn bit_of(word: &str) -> usize {
    quick_hash(word.as_bytes()) as usize % WORD_BITS
}

/// Every maximal run of letters, digits, underscores and bytes beyond ASCII that doesn't begin with a digit.
pub fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    core::iter::from_fn(move || {
        loop {
            while at < bytes.len() && !continues_word(bytes[at]) {
                at += 1;
            }
            if at == bytes.len() {
                return None;
            }
            let start = at;
            while at < bytes.len() && continues_word(bytes[at]) {
                at += 1;
            }
            if !bytes[start].is_ascii_digit() {
                return Some(start..at);
            }
        }
    })
}

const fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str =
        "/* Adds. */\nint add(int a, int b)\n{\n    int c = a;\n\n    return c + b;\n}\n";

    /// What a text shows of `ADD`: the bytes, and whether all lines are there.
    fn check(text: &str, expected: Option<(&str, bool)>) {
        let known = KnownLines::new(ADD, "add").unwrap();
        let lines = TextLines::new(text);
        let words = WordSet::new(["add"]);
        let mut shown = lines
            .with_words(&words)
            .into_iter()
            .filter_map(|(at, _)| known.shown_at(&lines, at));
        let shown = shown.next();
        let found = shown.map(|shown| (&text[shown.bytes], shown.is_whole));
        assert_eq!(found, expected, "{text}");
    }

    fn with_gutters(gutter: impl Fn(usize) -> String) -> String {
        let lines = ADD.lines().enumerate();
        lines
            .map(|(index, line)| {
                alloc::format!("{}{line}", gutter(index + 1))
                    .trim_end()
                    .into()
            })
            .collect::<Vec<String>>()
            .join("\n")
    }

    /// Whatever a tool prints before the lines, they are found.
    #[test]
    fn anything_in_front() {
        let gutters: [&dyn Fn(usize) -> String; 9] = [
            &|_| String::new(),
            &|n| alloc::format!("{n}: "),
            &|n| alloc::format!("{:>6}\t", n + 96),
            &|n| alloc::format!("{n:>4} | "),
            &|n| alloc::format!("src/a.c{}{n}{0}", if n == 2 { ':' } else { '-' }),
            &|_| "> > ".into(),
            &|_| "+".into(),
            &|n| alloc::format!("   {n} │ "),
            &|_| "\t\t".into(),
        ];
        for gutter in gutters {
            let text = alloc::format!("before\n{}\nafter", with_gutters(gutter));
            let known = KnownLines::new(ADD, "add").unwrap();
            let lines = TextLines::new(&text);
            let shown = (0..lines.lines.len()).find_map(|at| known.shown_at(&lines, at));
            let shown = shown.unwrap_or_else(|| panic!("not found in\n{text}"));
            assert!(shown.is_whole, "{text}");
            assert!(
                text[shown.bytes.clone()].starts_with("/* Adds. */"),
                "{text}"
            );
            assert_eq!(&text[shown.bytes.end..], "\nafter");
        }
    }

    /// Comments above the code may be missing, and nothing else may be.
    #[test]
    fn missing_comments() {
        let code = ADD.split_once('\n').unwrap().1.trim_end();
        check(code, Some((code, false)));
        check(
            &alloc::format!("<content>{ADD}"),
            Some((ADD.trim_end(), true)),
        );
        check(&alloc::format!("static {code}"), None);
        check(&code.replace("c + b", "c - b"), None);
        check(&code.replace("{\n", "{\n    log();\n"), None);
        check(code.trim_end_matches('}'), None);
        check(&alloc::format!("{code}\n\n    log();"), None);
        check("int add(int a, int b)", None);
        check("", None);
    }

    /// A definition of one line is found only as the whole line.
    #[test]
    fn whole_line() {
        let known = KnownLines::new("#define SIZE 4\n", "SIZE").unwrap();
        let shows = |text: &str| known.shown_at(&TextLines::new(text), 0).is_some();
        assert!(shows("#define SIZE 4") && shows("  12\t#define SIZE 4"));
        assert!(!shows("// was #define SIZE 4") && !shows("#define SIZE 44"));
    }
}
