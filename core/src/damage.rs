//! Damage: what a change removed from code, found by comparing the code with its base (spec §7).
//!
//! A model that leaves code out has any number of words for it. So the comparison looks for no words: it aligns base and
//! change line by line, and judges what replaced the lines that are gone.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::slice::{self, Span};

/// Code to be compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparedCode<'c> {
    /// The text.
    pub text: &'c str,
    /// Ranges without effect: comments, and strings used as statements, in source order.
    pub remarks: &'c [Span],
    /// Ranges of definitions inside of it, which are compared by themselves.
    pub nested: &'c [Span],
}

/// What replaced the lines of a base that are gone, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// A comment that the base didn't have.
    Elided,
    /// A single statement that ends or fails.
    StubInPlace,
    /// Nothing, and they were a branch, the end, a member or an import.
    PartRemoved,
    /// Nothing, and they were a large share.
    MuchRemoved,
}

impl Damage {
    /// Whether nothing replaced the lines, so that the user may have asked for it.
    #[must_use]
    pub const fn is_removal(self) -> bool {
        matches!(self, Self::PartRemoved | Self::MuchRemoved)
    }
}

/// The result of comparing code with its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The worst damage; `None` if a careful edit might have done all of it.
    pub damage: Option<Damage>,
    /// The share of the base that is kept or replaced, in percent of its words and marks.
    pub kept_percent: u8,
}

impl Comparison {
    /// Nothing was removed, or there is no base.
    pub const UNHARMED: Self = Self {
        damage: None,
        kept_percent: 100,
    };
}

/// Percent of a base's words and marks that must be kept or replaced.
pub const KEPT_PERCENT: u8 = 80;

/// Fewest removed lines that can count as a large share: a single one is a statement.
const REMOVED_LINES_MIN: usize = 2;

/// Fewest words that a stub must have replaced to count as damage.
const STUBBED_WORDS: usize = 3;

/// Most words of a statement that does no more than end or fail.
const STUB_WORDS_MAX: usize = 8;

/// Largest product of base lines and new lines that is aligned; the table takes two bytes for each, so 4 MB.
const ALIGNED_MAX: usize = 2 << 20;

/// Most lines ahead that are searched for the one that a line was changed to.
const PAIRED_AHEAD_MAX: usize = 64;

/// First words of statements that end, or do nothing.
const ENDINGS: [&str; 4] = ["return", "break", "continue", "pass"];

/// First words of statements that fail.
const FAILURES: [&str; 12] = [
    "throw",
    "raise",
    "abort",
    "exit",
    "panic",
    "assert",
    "todo",
    "unimplemented",
    "unreachable",
    "die",
    "fail",
    "static_assert",
];

/// First words of further branches of a statement.
const BRANCHES: [&str; 11] = [
    "else", "elif", "elsif", "elseif", "case", "default", "when", "catch", "except", "finally",
    "rescue",
];

/// A line with code in it.
struct CodeLine<'c> {
    /// Its text without whitespace and without brackets and separators at its ends, which formatting moves.
    key: String,
    words: Vec<&'c str>,
    /// The number of its words and marks.
    weight: usize,
}

/// Code as lines, with the remarks between them.
struct CodeLines<'c> {
    code: Vec<CodeLine<'c>>,
    /// Each remark without whitespace, and the number of code lines before it.
    remarks: Vec<(String, usize)>,
}

impl<'c> CodeLines<'c> {
    /// `compared` is [`compared_text`] of the code.
    fn of(code: ComparedCode<'_>, compared: &'c str) -> Self {
        let mut lines = Vec::new();
        let mut starts = Vec::new();
        let mut at = 0;
        for line in compared.split_inclusive('\n') {
            let words: Vec<&str> = words_of(line).collect();
            if !words.is_empty() {
                lines.push(CodeLine {
                    key: line_key(line),
                    weight: weight_of_line(line),
                    words,
                });
                starts.push(at);
            }
            at += line.len();
        }
        let is_own = |span: &&Span| {
            let mut around = code.nested.iter();
            !around.any(|it| it.start <= span.start && span.end <= it.end)
        };
        let remarks = code.remarks.iter().filter(is_own).map(|span| {
            let before = starts.partition_point(|start| *start <= span.start as usize);
            let text = String::from_utf8_lossy(span.of(code.text.as_bytes()));
            (without_whitespace(&text), before)
        });
        Self {
            remarks: remarks.collect(),
            code: lines,
        }
    }
}

/// The number of words and marks in a line. A string counts as one; a preprocessor directive has none.
fn weight_of_line(line: &str) -> usize {
    if line.trim_start().starts_with('#') {
        return 0;
    }
    let outside = line.split('"').step_by(2);
    let weights = outside.map(|text| {
        let marks = text
            .chars()
            .filter(|c| !c.is_alphanumeric() && *c != '_' && !c.is_whitespace());
        words_of(text).count() + marks.count()
    });
    weights.sum::<usize>() + line.matches('"').count() / 2
}

/// The text with spaces for everything that isn't compared, so that positions stay the same.
fn compared_text<'c>(code: ComparedCode<'c>) -> Cow<'c, str> {
    if code.remarks.is_empty() && code.nested.is_empty() {
        return Cow::Borrowed(code.text);
    }
    let mut bare = code.text.as_bytes().to_vec();
    for span in code.remarks.iter().chain(code.nested) {
        let range = span.start as usize..(span.end as usize).min(bare.len());
        for byte in bare.get_mut(range).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // A span that ends inside a character would leave half of it: then the text is compared with its remarks, which refuses
    // more and never less.
    String::from_utf8(bare).map_or(Cow::Borrowed(code.text), Cow::Owned)
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn line_key(line: &str) -> String {
    let is_layout = |c| matches!(c, '{' | '}' | '(' | ')' | ';' | ',');
    let squeezed = without_whitespace(line);
    let trimmed = squeezed.trim_matches(is_layout);
    if trimmed.len() == squeezed.len() {
        squeezed
    } else {
        trimmed.into()
    }
}

/// What a definition's body consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionContent {
    /// Statements, some of which a careful edit may remove.
    Statements,
    /// Fields and the like, each of which somebody may use.
    Members,
}

impl DefinitionContent {
    /// The content of a definition with this head.
    #[must_use]
    pub fn of_head(head: &str) -> Self {
        let (before_bracket, has_bracket) = match head.split_once('(') {
            Some((before, _)) => (before, true),
            None => (head, false),
        };
        let is_type = words_of(before_bracket).any(|word| match word {
            "class" | "interface" | "trait" | "enum" | "record" => true,
            // A function may return one.
            "struct" | "union" | "type" => !has_bracket,
            _ => false,
        });
        if is_type {
            Self::Members
        } else {
            Self::Statements
        }
    }
}

/// Compares code with its base. `moved_to` are lines elsewhere in the same reply, where removed code may have gone (see
/// [`line_keys`]).
#[must_use]
pub fn compare(
    content: DefinitionContent,
    base: ComparedCode<'_>,
    new: ComparedCode<'_>,
    moved_to: &BTreeSet<String>,
) -> Comparison {
    let (base_text, new_text) = (compared_text(base), compared_text(new));
    let (base, new) = (
        CodeLines::of(base, &base_text),
        CodeLines::of(new, &new_text),
    );
    let hunks = align_hunks(&base.code, &new.code);
    let inserted: BTreeSet<&str> = hunks
        .iter()
        .flat_map(|hunk| &new.code[hunk.new.clone()])
        .map(|line| line.key.as_str())
        .collect();
    let was_moved = |line: &CodeLine<'_>| {
        line.words.len() > 1
            && (inserted.contains(line.key.as_str()) || moved_to.contains(&line.key))
    };
    let known_remarks: BTreeSet<&str> =
        base.remarks.iter().map(|(text, _)| text.as_str()).collect();
    let mut judged = DamageTally::default();
    for hunk in &hunks {
        let (old, fresh) = (&base.code[hunk.base.clone()], &new.code[hunk.new.clone()]);
        let (mut gone, added) = unpaired_lines(old, fresh);
        gone.retain(|line| !was_moved(line));
        let places = possible_positions(&base.code, hunk);
        let first = new
            .remarks
            .partition_point(|(_, before)| *before < places.start);
        let mut remarks = new.remarks[first..]
            .iter()
            .take_while(|(_, before)| *before <= places.end)
            .filter(|(text, _)| !known_remarks.contains(text.as_str()));
        judged.add_effect(&HunkEffect {
            // Code that is commented out isn't hidden from the user.
            has_remark: remarks.any(|(text, _)| !gone.iter().any(|it| text.contains(&it.key))),
            is_stub: is_stub(old, &gone, fresh),
            is_last: hunk.base.end == base.code.len(),
            are_members: content == DefinitionContent::Members,
            gone,
            added,
        });
    }
    judged.into_comparison(weight_of(&base.code))
}

/// The keys of all lines of some code, by which [`compare`] finds what was moved.
pub fn line_keys(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(line_key).filter(|key| !key.is_empty())
}

/// Compares a file's imports with those of its base; each is given as the text and the ranges of its imports. A lost import
/// is damage if the rest of the file uses a name that it binds. An include binds no names, so each lost one is damage.
#[must_use]
pub fn compare_imports(
    (base, imports): (&str, &[Span]),
    (new, new_imports): (&str, &[Span]),
) -> Comparison {
    let text_of = |text: &str, imports| {
        let joined = slice::joined(text.as_bytes(), imports);
        String::from_utf8_lossy(&joined).into_owned()
    };
    let (before, kept) = (text_of(base, imports), text_of(new, new_imports));
    let code = slice::text_outside(new, new_imports.iter().map(|span| span.range()));
    Comparison {
        damage: is_import_missing(&before, &kept, &code).then_some(Damage::PartRemoved),
        ..Comparison::UNHARMED
    }
}

fn is_import_missing(before: &str, kept: &str, code: &str) -> bool {
    let kept_words: BTreeSet<&str> = words_of(kept).collect();
    let kept_lines: BTreeSet<String> = line_keys(kept).collect();
    let gone = before
        .lines()
        .filter(|line| !kept_lines.contains(&line_key(line)));
    let mut gone = gone.peekable();
    if gone.peek().is_none() {
        return false;
    }
    let used: BTreeSet<&str> = words_of(code).collect();
    gone.any(|line| {
        let is_include = line.trim_start().starts_with('#');
        let mut lost = words_of(line).filter(|word| !kept_words.contains(word));
        is_include || lost.any(|word| used.contains(word))
    })
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
}

/// Lines of the base and the lines that replaced them; either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineHunk {
    base: core::ops::Range<usize>,
    new: core::ops::Range<usize>,
}

/// The differences between the two, by the longest common subsequence.
fn align_hunks(base: &[CodeLine<'_>], new: &[CodeLine<'_>]) -> Vec<LineHunk> {
    let same = |(one, other): &(&CodeLine<'_>, &CodeLine<'_>)| one.key == other.key;
    // Most changes leave most lines alone: without its equal ends the table is small, and long files can be aligned at all.
    let front = base.iter().zip(new).take_while(same).count();
    let (base_left, new_left) = (&base[front..], &new[front..]);
    let back = base_left.iter().rev().zip(new_left.iter().rev());
    let back = back.take_while(same).count();
    let (old, fresh) = (
        &base_left[..base_left.len() - back],
        &new_left[..new_left.len() - back],
    );
    if old.is_empty() && fresh.is_empty() {
        return Vec::new();
    }
    let whole = LineHunk {
        base: front..front + old.len(),
        new: front..front + fresh.len(),
    };
    // One hunk for all of it counts every line that isn't moved as removed, so a text too long to align is refused sooner.
    if old.is_empty() || fresh.is_empty() || old.len().saturating_mul(fresh.len()) > ALIGNED_MAX {
        return vec![whole];
    }
    let width = fresh.len() + 1;
    // `longest[one * width + other]`: the length of the longest common subsequence of `old[one..]` and `fresh[other..]`.
    let mut longest = vec![0_u16; (old.len() + 1) * width];
    for one in (0..old.len()).rev() {
        for other in (0..fresh.len()).rev() {
            longest[one * width + other] = if old[one].key == fresh[other].key {
                longest[(one + 1) * width + other + 1].saturating_add(1)
            } else {
                longest[(one + 1) * width + other].max(longest[one * width + other + 1])
            };
        }
    }
    let mut hunks: Vec<LineHunk> = Vec::new();
    let (mut one, mut other) = (0, 0);
    let mut begun = (0, 0);
    let mut close = |begun: (usize, usize), one: usize, other: usize| {
        if begun != (one, other) {
            hunks.push(LineHunk {
                base: front + begun.0..front + one,
                new: front + begun.1..front + other,
            });
        }
    };
    while one < old.len() && other < fresh.len() {
        if old[one].key == fresh[other].key {
            close(begun, one, other);
            (one, other) = (one + 1, other + 1);
            begun = (one, other);
        } else if longest[(one + 1) * width + other] >= longest[one * width + other + 1] {
            one += 1;
        } else {
            other += 1;
        }
    }
    close(begun, old.len(), fresh.len());
    hunks
}

/// The positions in the new text that a hunk may have: of equal lines in a row, any may be the one that was removed.
fn possible_positions(base: &[CodeLine<'_>], hunk: &LineHunk) -> core::ops::Range<usize> {
    if !hunk.new.is_empty() {
        return hunk.new.clone();
    }
    let LineHunk { base: gone, new } = hunk;
    let is_same = |one: usize, other: usize| base[one].key == base[other].key;
    let up = (1..=gone.start.min(new.start))
        .take_while(|by| is_same(gone.start - by, gone.end - by))
        .count();
    let down = (0..base.len() - gone.end)
        .take_while(|by| is_same(gone.start + by, gone.end + by))
        .count();
    new.start - up..new.end + down
}

/// Lines on either side of a hunk without a similar line on the other side. A line with half of its words kept was changed.
fn unpaired_lines<'l, 'c>(
    gone: &'l [CodeLine<'c>],
    new: &'l [CodeLine<'c>],
) -> (Vec<&'l CodeLine<'c>>, Vec<&'l CodeLine<'c>>) {
    let (mut left, mut added) = (Vec::new(), Vec::new());
    let mut from = 0;
    for line in gone {
        let ahead = new[from..].iter().take(PAIRED_AHEAD_MAX);
        match ahead.clone().position(|other| is_like(line, other)) {
            Some(at) => {
                added.extend(&new[from..from + at]);
                from += at + 1;
            }
            None => left.push(line),
        }
    }
    added.extend(&new[from..]);
    (left, added)
}

fn is_like(one: &CodeLine<'_>, other: &CodeLine<'_>) -> bool {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in &other.words {
        *counts.entry(word).or_default() += 1;
    }
    let shared = one.words.iter().filter(|word| {
        let count = counts.get_mut(**word);
        count.is_some_and(|count| core::mem::replace(count, count.saturating_sub(1)) > 0)
    });
    4 * shared.count() >= one.words.len() + other.words.len()
}

/// Whether a single statement that ends or fails replaced others. `left` are those of `gone` that aren't similar to it.
fn is_stub(gone: &[CodeLine<'_>], left: &[&CodeLine<'_>], new: &[CodeLine<'_>]) -> bool {
    let [only] = new else { return false };
    let is_new = |word: &&str| !gone.iter().any(|line| line.words.contains(word));
    let (first, others) = only.words.split_at(1);
    let fails = begins_with_any(only, &FAILURES);
    let ends = fails || begins_with_any(only, &ENDINGS);
    // `return f();` for `x = f(); return x;` does the same.
    let is_else = left.len() > 1 || gone.len() > 1 && others.iter().all(is_new);
    (ends && is_else || fails && first.iter().all(is_new))
        && only.words.len() <= STUB_WORDS_MAX
        && words_in(gone) >= STUBBED_WORDS
}

fn begins_with_any(line: &CodeLine<'_>, with: &[&str]) -> bool {
    let first = line.words.first();
    first.is_some_and(|first| with.contains(first))
}

fn weight_of<'l, 'c: 'l>(lines: impl IntoIterator<Item = &'l CodeLine<'c>>) -> usize {
    lines.into_iter().map(|line| line.weight).sum()
}

fn words_in<'l, 'c: 'l>(lines: impl IntoIterator<Item = &'l CodeLine<'c>>) -> usize {
    lines.into_iter().map(|line| line.words.len()).sum()
}

/// The effect of one hunk.
struct HunkEffect<'l, 'c> {
    /// Lines of the base that neither their replacement nor any moved line resembles.
    gone: Vec<&'l CodeLine<'c>>,
    /// Lines of the replacement that resemble none of them.
    added: Vec<&'l CodeLine<'c>>,
    /// Whether the replacement has a new remark.
    has_remark: bool,
    /// Whether a stub replaced all of them.
    is_stub: bool,
    /// Whether they were the base's last lines.
    is_last: bool,
    are_members: bool,
}

/// The damage of all hunks together.
#[derive(Default)]
struct DamageTally {
    worst: Option<Damage>,
    removed_weight: usize,
    removed_lines: usize,
}

impl DamageTally {
    fn add_effect(&mut self, replacement: &HunkEffect<'_, '_>) {
        let HunkEffect { gone, added, .. } = replacement;
        let words = words_in(gone.iter().copied());
        if words == 0 {
            return;
        }
        let damage = if replacement.has_remark && 4 * words_in(added.iter().copied()) <= words {
            Some(Damage::Elided)
        } else if replacement.is_stub {
            Some(Damage::StubInPlace)
        } else if added.is_empty() {
            self.removed_weight += weight_of(gone.iter().copied());
            self.removed_lines += gone.len();
            // An `else` alone is no lost branch: its code is still there.
            let is_branch = words > 1 && gone.iter().any(|line| begins_with_any(line, &BRANCHES));
            let is_end =
                replacement.is_last && gone.iter().any(|line| begins_with_any(line, &["return"]));
            (is_branch || is_end || replacement.are_members).then_some(Damage::PartRemoved)
        } else {
            None
        };
        self.worst = match (self.worst, damage) {
            (Some(worst), Some(damage)) => Some(worst.min(damage)),
            (worst, damage) => worst.or(damage),
        };
    }

    fn into_comparison(self, base_weight: usize) -> Comparison {
        let removed_percent = (self.removed_weight * 100).div_ceil(base_weight.max(1));
        debug_assert!(
            removed_percent <= 100,
            "removed lines are some of the base's"
        );
        // Rounded against the change, and a whole that is gone keeps nothing, however its weights were counted.
        let kept_percent = 100 - u8::try_from(removed_percent.min(100)).unwrap_or(100);
        let is_much = kept_percent < KEPT_PERCENT && self.removed_lines >= REMOVED_LINES_MIN;
        Comparison {
            damage: self.worst.or(is_much.then_some(Damage::MuchRemoved)),
            kept_percent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const BASE: &str = "int f(int a) {\n    int b = load(a);\n    if (b < 0) {\n        log_error(a, b);\n        return -1;\n    } else {\n        count(b, 2);\n    }\n    store(a, b + 1);\n    notify(a);\n    return b;\n}\n";

    /// Remarks are what `//` and `/*` begin, and lines that are a string.
    fn remarks(text: &str) -> Vec<Span> {
        let mut remarks = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let begin = line
                .find("//")
                .or(line.find("/*"))
                .or(line.trim().starts_with('"').then_some(0));
            if let Some(begin) = begin {
                let end = line.find("*/").map_or(line.trim_end().len(), |end| end + 2);
                remarks.push(Span {
                    start: u32::try_from(at + begin).expect("short"),
                    end: u32::try_from(at + end).expect("short"),
                });
            }
            at += line.len();
        }
        remarks
    }

    fn compared(base: &str, new: &str, moved_to: &str) -> Option<Damage> {
        let (of_base, of_new) = (remarks(base), remarks(new));
        let base = ComparedCode {
            text: base,
            remarks: &of_base,
            nested: &[],
        };
        let new = ComparedCode {
            text: new,
            remarks: &of_new,
            nested: &[],
        };
        let moved_to = line_keys(moved_to).collect();
        compare(DefinitionContent::Statements, base, new, &moved_to).damage
    }

    /// What becomes of the base with some lines replaced; lines count from 1.
    fn check(lines: core::ops::RangeInclusive<usize>, by: &str, expected: Option<Damage>) {
        let mut new = String::new();
        for (index, line) in (1..).zip(BASE.split_inclusive('\n')) {
            if index == *lines.start() {
                new.push_str(by);
            }
            if !lines.contains(&index) {
                new.push_str(line);
            }
        }
        assert_eq!(compared(BASE, &new, ""), expected, "{new}");
    }

    #[test]
    fn a_remark_in_the_place_of_code_is_an_elision_whatever_it_says() {
        let elided = Some(Damage::Elided);
        for words in [
            "// wie bisher\n",
            "/**/\n",
            "// TODO\n",
            "\"as above\";\n",
            "/* 省略 */\n",
        ] {
            check(9..=10, words, elided);
            check(2..=8, words, elided);
            check(2..=11, words, elided);
            check(9..=11, words, elided);
        }
        check(9..=9, "    store(a, b + 2); // one more\n", None);
        check(
            9..=10,
            "    store(a, b + 2);\n    // then\n    notify(a);\n",
            None,
        );
        check(10..=10, "    // notify(a);\n", None);
    }

    #[test]
    fn a_statement_that_ends_in_the_place_of_code_is_a_stub() {
        check(3..=11, "    abort();\n", Some(Damage::StubInPlace));
        check(
            2..=10,
            "    throw std::logic_error(\"not implemented\");\n",
            Some(Damage::StubInPlace),
        );
        check(9..=9, "    return 0;\n", None);
    }

    #[test]
    fn what_is_gone_counts_from_a_size_on_and_branches_and_ends_always() {
        check(10..=10, "", None);
        check(6..=7, "", Some(Damage::PartRemoved));
        check(9..=11, "", Some(Damage::PartRemoved));
        check(3..=5, "", Some(Damage::MuchRemoved));
        check(2..=2, "", None);
    }

    #[test]
    fn layout_renames_and_rewriting_are_no_damage() {
        let anew = BASE
            .replace(" {\n", "\n{\n")
            .replace("    ", "\t")
            .replace("} else", "}\n else");
        assert_eq!(compared(BASE, &anew, ""), None);
        assert_eq!(compared(BASE, &BASE.replace("b", "value"), ""), None);
        check(
            3..=8,
            "    count(checked(b), 2);\n    if (b < 0) return -1;\n",
            None,
        );
    }

    #[test]
    fn what_was_moved_is_not_gone() {
        let lines: Vec<&str> = BASE.split_inclusive('\n').collect();
        let helper = format!("void g(int a, int b) {{\n{}}}\n", lines[2..9].concat());
        let new = format!(
            "{}    g(a, b);\n{}",
            lines[..2].concat(),
            lines[9..].concat()
        );
        let (new, helper) = (new.as_str(), helper.as_str());
        assert_eq!(compared(BASE, new, ""), Some(Damage::PartRemoved));
        assert_eq!(compared(BASE, new, helper), None);
        let swapped = BASE
            .replace("    notify(a);\n", "")
            .replace("    int b", "    notify(a);\n    int b");
        assert_eq!(compared(BASE, &swapped, ""), None);
    }

    #[test]
    fn imports_are_missing_where_what_they_bind_is_still_used() {
        let check = |before: &str, after: &str, code: &str, expected| {
            assert_eq!(is_import_missing(before, after, code), expected, "{after}");
        };
        let includes = "#include <a.h>\n#include <b.h>\n";
        check(includes, "#include <b.h>\n", "f();", true);
        check(includes, "#include <b.h>\n#include <a.h>\n", "f();", false);
        let imports = "from m import load, store\nimport os.path\n";
        let without_one = "from m import load\nimport os.path\n";
        check(imports, without_one, "store(load())", true);
        check(imports, without_one, "load()", false);
        let anew = "import os.path\nfrom m import (load,\n store)\n";
        check(imports, anew, "store(load())", false);
    }

    #[test]
    fn members_are_missed_one_by_one() {
        let check = |head: &str, expected| {
            assert_eq!(DefinitionContent::of_head(head), expected, "{head}");
        };
        check("pub struct A<T>", DefinitionContent::Members);
        check("static struct a *f(int b)", DefinitionContent::Statements);
        check("class A(B):", DefinitionContent::Members);
        check(
            "def f(class_: type) -> struct:",
            DefinitionContent::Statements,
        );
        let fields = "struct A {\n    a: u8,\n    b: u8,\n    c: u8,\n    d: u8,\n    e: u8,\n}\n";
        let without_one = fields.replace("    c: u8,\n", "");
        let compared = |content| {
            let code = |text| ComparedCode {
                text,
                remarks: &[],
                nested: &[],
            };
            compare(content, code(fields), code(&without_one), &BTreeSet::new()).damage
        };
        assert_eq!(
            compared(DefinitionContent::Members),
            Some(Damage::PartRemoved)
        );
        assert_eq!(compared(DefinitionContent::Statements), None);
    }

    #[test]
    fn a_remark_for_one_of_two_lines_that_are_the_same() {
        let base = "void f() {\n    step(1);\n    step(1);\n    end();\n}\n";
        for new in [
            base.replacen("step(1);", "// as before", 1),
            base.replace("step(1);\n    end", "// as before\n    end"),
        ] {
            assert_eq!(compared(base, &new, ""), Some(Damage::Elided), "{new}");
        }
    }

    #[test]
    fn long_code_is_compared_all_the_same() {
        let line = |n: usize, word: &str| format!("    {word}_{n}({n}, x);\n");
        let base: String = (0..3_000).map(|n| line(n, "call")).collect();
        let other: String = (0..3_000).map(|n| line(n, "do")).collect();
        assert_eq!(compared(&base, &other, ""), None);
        assert_eq!(
            compared(&base, "    // as before\n", ""),
            Some(Damage::Elided)
        );
    }
}
