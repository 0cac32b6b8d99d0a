//! What a change takes from a definition, by counting its parts (spec §7).
//!
//! Example: a new version with a renamed variable has one `if` less than its base. The check isn't in the rest of the reply
//! either, so it was forgotten. The rule: beside another change no count of parts may shrink. Taking tokens away and changing
//! nothing else is a deletion, which is deliberate. The limit: a part that is replaced by another of its kind isn't noticed.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Add, Sub};

use crate::slice::{self, Span};

/// A kind of part. Those that mustn't get fewer come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A decorator, an attribute or an annotation.
    Attribute,
    /// A check, or a branch with a check.
    Condition,
    /// A branch without a check.
    Branch,
    /// A loop.
    Repeat,
    /// Code that answers for errors or releases a resource.
    Handler,
    /// A statement that leaves, fails or ends the program.
    Exit,
    /// A statement or a declaration.
    Statement,
    /// An operator that decides. It can do what a check did, and may go.
    Choice,
    /// A block that does nothing. There may be fewer, not more.
    Empty,
}

const PARTS: usize = Part::Empty as usize + 1;

/// Parts that mustn't get fewer beside another change.
const KEPT: [Part; 7] = [
    Part::Attribute,
    Part::Condition,
    Part::Branch,
    Part::Repeat,
    Part::Handler,
    Part::Exit,
    Part::Statement,
];

/// Keywords of all languages, by the part that they begin.
const KEYWORDS: [(Part, &[&str]); 6] = [
    (
        Part::Condition,
        &[
            "if", "unless", "guard", "elif", "elsif", "elseif", "case", "when", "match", "switch",
        ],
    ),
    (Part::Choice, &["?", "&&", "||", "and", "or", "??"]),
    (Part::Branch, &["else", "default"]),
    (Part::Repeat, &["for", "while", "loop", "foreach", "until"]),
    (
        Part::Handler,
        &[
            "catch",
            "except",
            "rescue",
            "ensure",
            "finally",
            "with",
            "using",
            "defer",
            "synchronized",
        ],
    ),
    (
        Part::Exit,
        &[
            "return", "break", "continue", "goto", "throw", "raise", "rethrow", "yield", "assert",
        ],
    ),
];

/// Functions and macros that fail or end the program, in lower case.
const FAILURES: [&str; 16] = [
    "_exit",
    "quit",
    "fatal",
    "fatalf",
    "terminate",
    "halt",
    "quick_exit",
    "abort",
    "exit",
    "panic",
    "todo",
    "unimplemented",
    "unreachable",
    "die",
    "fail",
    "static_assert",
];

impl Part {
    /// The part that a keyword begins.
    #[must_use]
    pub fn of_keyword(word: &str) -> Option<Self> {
        let mut kinds = KEYWORDS.iter();
        let kind = kinds.find(|(_, words)| words.contains(&word));
        kind.map(|(part, _)| *part)
    }

    /// [`Part::Exit`] if a name is that of a function or macro that ends the program.
    #[must_use]
    pub fn of_name(name: &[u8]) -> Option<Self> {
        let mut failures = FAILURES.iter();
        let fails = failures.any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        fails.then_some(Self::Exit)
    }
}

/// The number of parts of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCounts([u32; PARTS]);

impl PartCounts {
    /// Counts parts of one kind.
    pub const fn add_parts(&mut self, part: Part, count: u32) {
        self.0[part as usize] += count;
    }

    /// The number of parts of one kind.
    #[must_use]
    pub const fn of(&self, part: Part) -> u32 {
        self.0[part as usize]
    }
}

impl Add for PartCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(core::array::from_fn(|at| {
            self.0[at].saturating_add(other.0[at])
        }))
    }
}

impl Sub for PartCounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(core::array::from_fn(|at| {
            self.0[at].saturating_sub(other.0[at])
        }))
    }
}

impl core::iter::Sum for PartCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

/// A definition's code as it is measured.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCode<'c> {
    /// Its text.
    pub text: &'c str,
    /// Ranges without effect, in source order: comments, and strings used as statements.
    pub remarks: &'c [Span],
    /// Ranges of definitions inside of it, which are measured by themselves.
    pub nested: &'c [Span],
    /// Its parts, without those of the nested definitions.
    pub parts: PartCounts,
}

/// The effect of a change on a definition, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// No part was lost.
    Whole,
    /// Code was taken away, and nothing else was changed.
    Deletion,
    /// Parts or much code were lost beside another change.
    Loss,
    /// A block was emptied.
    Emptied,
    /// A new comment stands where code was lost.
    Elided,
}

/// The measured effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// The effect.
    pub effect: Effect,
    /// The number of tokens as a percentage of the base's; at most 100.
    pub kept_percent: u8,
}

impl Measure {
    /// Nothing was lost, or there is no base.
    pub const UNHARMED: Self = Self {
        effect: Effect::Whole,
        kept_percent: 100,
    };
}

/// Least percentage of a definition's tokens that must be left beside another change.
pub const KEPT_PERCENT: u8 = 80;

/// The same where nothing else is changed: whoever takes away more has forgotten it, as small models forget the checks at a function's head.
const KEPT_PERCENT_OF_DELETION: u8 = 66;

/// Measures a definition against its base. `brought` are the parts that went from it into new definitions of the same reply.
#[must_use]
pub fn measure(base: MeasuredCode<'_>, new: MeasuredCode<'_>, brought: PartCounts) -> Measure {
    let (before, after) = (base.code(), new.code());
    let (old, fresh) = (tokens(&before), tokens(&after));
    let has_new_remark = has_new_remark(base, new);
    let kept = (fresh.len() * 100).checked_div(old.len()).unwrap_or(100);
    let is_emptied = new.parts.of(Part::Empty) > base.parts.of(Part::Empty);
    let has = new.parts + brought;
    let gained = |part: Part| has.of(part).saturating_sub(base.parts.of(part));
    let plain = |parts: PartCounts| {
        parts
            .of(Part::Statement)
            .saturating_sub(parts.of(Part::Exit))
    };
    let plain_gained = plain(has).saturating_sub(plain(base.parts));
    let is_lost = |part: Part| {
        let stand_ins = match part {
            Part::Condition => gained(Part::Choice),
            // A block that leaves needs no `else` after it.
            Part::Branch => gained(Part::Exit),
            // Two statements that go on do more than one that leaves.
            Part::Exit => plain_gained / 2,
            _ => 0,
        };
        base.parts.of(part) > has.of(part) + stand_ins
    };
    let is_less = kept < usize::from(KEPT_PERCENT) && brought == PartCounts::default();
    let end = end_in_place_of_dropped(&before, &after);
    let is_loss = || KEPT.into_iter().any(is_lost) || is_less || end.is_some();
    // The tokens of `return 0` may be some of the base's.
    let is_deletion = end != Some(NewEnd::Foreign)
        && kept >= usize::from(KEPT_PERCENT_OF_DELETION)
        && is_subsequence(&fresh, &old);
    let effect = if is_emptied {
        Effect::Emptied
    } else if !has_new_remark && is_deletion {
        match fresh.len() == old.len() {
            true => Effect::Whole,
            false => Effect::Deletion,
        }
    } else {
        match (is_loss(), has_new_remark) {
            (false, _) => Effect::Whole,
            (true, true) => Effect::Elided,
            (true, false) => Effect::Loss,
        }
    };
    Measure {
        effect,
        kept_percent: u8::try_from(kept.min(100)).unwrap_or(100),
    }
}

/// Whether nothing but code was taken away, however much of it.
#[must_use]
pub fn is_deletion(base: MeasuredCode<'_>, new: MeasuredCode<'_>) -> bool {
    let (before, after) = (base.code(), new.code());
    let (old, fresh) = (tokens(&before), tokens(&after));
    fresh.len() < old.len() && is_subsequence(&fresh, &old) && !has_new_remark(base, new)
}

fn has_new_remark(base: MeasuredCode<'_>, new: MeasuredCode<'_>) -> bool {
    let known: BTreeSet<String> = base.own_remarks().collect();
    new.own_remarks().any(|remark| !known.contains(&remark))
}

impl<'c> MeasuredCode<'c> {
    /// Code of which nothing is known but its words.
    #[must_use]
    pub fn bare(text: &'c str) -> Self {
        Self {
            text,
            remarks: &[],
            nested: &[],
            parts: PartCounts::default(),
        }
    }

    fn code(&self) -> Cow<'c, str> {
        blanked(self.text, self.remarks.iter().chain(self.nested))
    }

    /// The remarks outside of nested definitions, without whitespace.
    fn own_remarks(self) -> impl Iterator<Item = String> {
        let own = self.remarks.iter().filter(move |it| !it.is_in(self.nested));
        own.map(move |span| {
            let text = String::from_utf8_lossy(span.of(self.text.as_bytes()));
            squeezed(&text)
        })
    }
}

/// The text with spaces in place of these parts of it, so that positions stay the same.
pub fn blanked<'t, 's>(text: &'t str, parts: impl Iterator<Item = &'s Span>) -> Cow<'t, str> {
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut bare = text.as_bytes().to_vec();
    for span in parts {
        let range = span.start as usize..(span.end as usize).min(bare.len());
        for byte in bare.get_mut(range).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // A span that ends inside a character would leave half of it. The text with its remarks is refused sooner, never later.
    String::from_utf8(bare).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The lines of some code without whitespace, by which moved code is found; not those without a word.
pub fn line_keys(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| words_of(line).next().is_some());
    lines.map(squeezed)
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Words, and each mark by itself. Commas come and go with what they separate, so they don't count.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_of_word(first) {
            true => rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.extend((token != ",").then_some(token));
        rest = after.trim_start();
    }
    tokens
}

fn is_subsequence(short: &[&str], long: &[&str]) -> bool {
    let mut long = long.iter();
    short.iter().all(|token| long.any(|it| it == token))
}

/// The last line of a definition whose last line was dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewEnd {
    /// An earlier line of the base.
    Earlier,
    /// A new one that names nothing of the base or the rest, such as `return 0` or `exit(1)`, where a name of the dropped one went.
    Foreign,
}

fn end_in_place_of_dropped<'t>(before: &'t str, after: &'t str) -> Option<NewEnd> {
    let (old, new): (Vec<String>, Vec<String>) =
        (line_keys(before).collect(), line_keys(after).collect());
    let ((last, earlier), now) = (old.split_last()?, new.last()?);
    let count = |all: &[String]| all.iter().filter(|line| *line == last).count();
    if last == now || count(&new) >= count(&old) {
        return None;
    }
    if earlier.contains(now) {
        return Some(NewEnd::Earlier);
    }
    let is_line = |line: &&str| words_of(line).next().is_some();
    let end_of = |text: &'t str| text.lines().rfind(is_line).unwrap_or_default();
    let count = |text, name| names_in(text).filter(|it| *it == name).count();
    let is_gone = names_in(end_of(before)).any(|name| count(after, name) < count(before, name));
    let rest = after
        .lines()
        .rev()
        .skip_while(|line| !is_line(line))
        .skip(1);
    let known: BTreeSet<&str> = names_in(before).chain(rest.flat_map(names_in)).collect();
    let is_foreign = is_gone && !names_in(end_of(after)).any(|name| known.contains(name));
    is_foreign.then_some(NewEnd::Foreign)
}

/// Words that are neither keywords of parts nor numbers.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let begins_name = |word: &&str| !word.starts_with(|c: char| c.is_ascii_digit());
    words_of(text).filter(move |word| begins_name(word) && Part::of_keyword(word).is_none())
}

/// Measures the imports of a file against those of its base; each is given as the text and the ranges of its imports. A lost
/// import is a loss if the rest of the file uses a name that it binds. An include binds no names, so each lost one is a loss.
#[must_use]
pub fn measure_imports(
    (base, imports): (&str, &[Span]),
    (new, new_imports): (&str, &[Span]),
) -> Measure {
    let text_of = |text: &str, imports| {
        let joined = slice::joined(text.as_bytes(), imports);
        String::from_utf8_lossy(&joined).into_owned()
    };
    let (before, kept) = (text_of(base, imports), text_of(new, new_imports));
    let kept_words: BTreeSet<&str> = words_of(&kept).collect();
    let kept_lines: BTreeSet<String> = line_keys(&kept).collect();
    let code = slice::text_outside(new, new_imports.iter().map(|span| span.range()));
    let used: BTreeSet<&str> = words_of(&code).collect();
    let mut gone = before
        .lines()
        .filter(|line| !kept_lines.contains(&squeezed(line)));
    let is_lost = gone.any(|line| {
        let mut lost = words_of(line).filter(|word| !kept_words.contains(word));
        line.trim_start().starts_with('#') || lost.any(|word| used.contains(word))
    });
    Measure {
        effect: if is_lost { Effect::Loss } else { Effect::Whole },
        ..Measure::UNHARMED
    }
}

/// The words of a text: letters, digits and underscores.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_of_word(c));
    words.filter(|word| !word.is_empty())
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "if bad:\n    return 0\nfor it in all:\n    add(it)\nreturn sum\n";

    /// Counts as a grammar would, without one.
    fn counted(text: &str) -> PartCounts {
        let mut parts = PartCounts::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            parts.add_parts(Part::Statement, 1);
            for word in words_of(line) {
                let part = Part::of_keyword(word).or_else(|| Part::of_name(word.as_bytes()));
                part.into_iter().for_each(|part| parts.add_parts(part, 1));
            }
        }
        parts
    }

    fn effect(new: &str, brought: PartCounts) -> Effect {
        let code = |text| MeasuredCode {
            text,
            remarks: &[],
            nested: &[],
            parts: counted(text),
        };
        measure(code(BASE), code(new), brought).effect
    }

    #[test]
    fn deletion_alone() {
        let none = PartCounts::default();
        assert_eq!(effect(BASE, none), Effect::Whole);
        assert_eq!(effect(&BASE.replace("    ", "\t"), none), Effect::Whole);
        let without_check = BASE.replace("if bad:\n    return 0\n", "");
        assert_eq!(effect(&without_check, none), Effect::Deletion);
        let renamed = without_check.replace("sum", "total");
        assert_eq!(effect(&renamed, none), Effect::Loss);
        let added = alloc::format!("log()\n{without_check}");
        assert_eq!(effect(&added, none), Effect::Loss);
    }

    #[test]
    fn parts_brought_elsewhere() {
        let called = BASE.replace("if bad:\n    return 0\n", "check(bad)\n");
        assert_eq!(effect(&called, PartCounts::default()), Effect::Loss);
        assert_eq!(
            effect(&called, counted("if bad:\n    return 0\n")),
            Effect::Whole
        );
    }

    #[test]
    fn end_dropped() {
        let dropped = BASE.replace("return sum\n", "").replace("bad", "worse");
        assert_eq!(effect(&dropped, counted("return\n")), Effect::Loss);
        let replaced = BASE.replace("return sum", "return total(all)");
        assert_eq!(effect(&replaced, PartCounts::default()), Effect::Whole);
        let stubbed = BASE.replace("return sum", "return 0");
        assert_eq!(effect(&stubbed, PartCounts::default()), Effect::Loss);
    }

    #[test]
    fn new_remark_for_code() {
        let new = "if bad:\n    return 0\n# the rest as before\nreturn sum\n";
        let remark = Span { start: 25, end: 46 };
        let code = |text, remarks| MeasuredCode {
            text,
            remarks,
            nested: &[],
            parts: counted(text),
        };
        let without = new.replace("# the rest as before", "");
        let measured = MeasuredCode {
            parts: counted(&without),
            ..code(new, core::slice::from_ref(&remark))
        };
        let effect = measure(code(BASE, &[]), measured, PartCounts::default()).effect;
        assert_eq!(effect, Effect::Elided);
    }

    #[test]
    fn imports_in_use() {
        let of = |text: &str| {
            Vec::from([Span {
                start: 0,
                end: u32::try_from(text.len()).unwrap(),
            }])
        };
        let before = "import a\nimport b\n";
        let imports = of(before);
        let kept = "import a\n";
        let check = |code: &str, expected: Effect| {
            let new = alloc::format!("{kept}{code}");
            let measured = measure_imports((before, &imports), (&new, &of(kept)));
            assert_eq!(measured.effect, expected, "{code}");
        };
        check("a.f()\n", Effect::Whole);
        check("b.f()\n", Effect::Loss);
    }
}
