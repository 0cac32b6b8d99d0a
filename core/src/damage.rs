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
    /// Nothing of their like, and they were a part of what holds them: a check, a branch, a loop, a handler, a failure, a decorator, the
    /// end, a member, an import, or what the last accepted change had added.
    PartRemoved,
    /// Nothing, and they were a large share.
    MuchRemoved,
}

/// The result of comparing code with its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The worst damage; `None` if a careful edit might have done all of it.
    pub damage: Option<Damage>,
    /// The share of the base that is kept or replaced, in percent of its words.
    pub kept_percent: u8,
}

impl Comparison {
    /// Nothing was removed, or there is no base.
    pub const UNHARMED: Self = Self {
        damage: None,
        kept_percent: 100,
    };
}

/// Percent of a base's words that must be kept or replaced.
pub const KEPT_PERCENT: u8 = 80;

/// Fewest removed lines that can count as a large share: a single one is a statement.
const REMOVED_LINES_MIN: usize = 2;

/// Fewest words that a stub must have replaced to count as damage.
const STUBBED_WORDS: usize = 3;

/// Most words of an ending that computes nothing but its value.
const COMPUTING_WORDS: usize = 3;

/// Largest product of base lines and new lines that is aligned; the table takes two bytes for each, so 4 MB.
const ALIGNED_MAX: usize = 2 << 20;

/// Most lines ahead that are searched for the one that a line was changed to.
const PAIRED_AHEAD_MAX: usize = 64;

/// Most lines of a statement; what is longer is compared by lines.
const WRAPPED_LINES_MAX: usize = 32;

/// First words of statements that end, or do nothing.
const ENDINGS: [&str; 4] = ["return", "break", "continue", "pass"];

/// Statements that fail or end the program: their first word, or what they call, in lower case.
const FAILURES: [&str; 20] = [
    "_exit",
    "quit",
    "fatal",
    "fatalf",
    "terminate",
    "halt",
    "quick_exit",
    "rethrow",
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

/// First words of statements that leave what holds them.
const JUMPS: [&str; 4] = ["return", "break", "continue", "goto"];

/// First words of further branches of a statement.
const BRANCHES: [&str; 7] = ["else", "elif", "elsif", "elseif", "case", "default", "when"];

/// First words of checks.
const CONDITIONS: [&str; 3] = ["if", "unless", "guard"];

/// Words by which a line decides.
const DECIDING: [&str; 9] = [
    "if", "unless", "guard", "elif", "elsif", "case", "when", "match", "switch",
];

/// First words of loops.
const LOOPS: [&str; 6] = ["for", "while", "loop", "foreach", "do", "until"];

/// First words of what answers for errors and releases. A `try` does neither by itself.
const HANDLERS: [&str; 4] = ["with", "using", "defer", "synchronized"];

/// First words of branches that answer for errors.
const CATCHES: [&str; 4] = ["catch", "except", "rescue", "finally"];

/// Words that any statement may have; two that share no others have nothing in common.
const COMMON_WORDS: [&str; 28] = [
    "if", "else", "for", "while", "do", "return", "let", "var", "const", "auto", "int", "void",
    "self", "this", "true", "false", "True", "False", "None", "null", "nil", "in", "of", "not",
    "new", "await", "def", "fn",
];

/// What a statement is to the code that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A decorator, an attribute or an annotation.
    Decorator,
    /// A check.
    Condition,
    /// A further branch of a statement.
    Branch,
    /// A loop.
    Loop,
    /// What answers for errors, or releases what it holds.
    Handler,
    /// What leaves, fails or ends the program.
    Failure,
}

impl Part {
    /// The part that a line begins.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        CodeLine::of(line).part()
    }
}

/// Whether a line leaves what holds it.
#[must_use]
pub fn line_jumps(line: &str) -> bool {
    CodeLine::of(line).jumps()
}

/// Of a line, and of the code that it holds: the numbers of the removals that the user asks for and that may mean it, each with how well
/// its words fit.
pub type ClaimsOnLine<'c> = dyn Fn(&str, &dyn Fn() -> String) -> Vec<(usize, u32)> + 'c;

/// What a call in the new code calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// What was there before, or may have been.
    Known,
    /// A definition that the reply brings, without its remarks.
    Brought(String),
    /// Nothing that anybody knows.
    Unknown,
}

/// What a change was asked to do, and where else its code may be.
#[derive(Clone, Copy)]
pub struct ChangeContext<'c> {
    /// Lines elsewhere in the same reply, where removed code may have gone (see [`line_keys`]).
    pub moved_to: &'c BTreeSet<String>,
    /// Lines that the last accepted change added (see [`line_keys`]).
    pub added_last: &'c BTreeSet<String>,
    /// What a name stands for that the new code calls.
    pub callee: &'c dyn Fn(&str) -> Callee,
    /// What the user asks to take out.
    pub asked: &'c ClaimsOnLine<'c>,
    /// Whether the user asks to make the code smaller.
    pub may_shrink: bool,
    /// Whether the user asks for something under a condition: one more check replaces none.
    pub adds_check: bool,
}

/// A line with code in it.
struct CodeLine<'c> {
    text: &'c str,
    /// Its text without whitespace and without brackets and separators at its ends, which formatting moves.
    key: String,
    words: Vec<&'c str>,
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
        for line in statements_of(compared) {
            if words_of(line).next().is_some() {
                lines.push(CodeLine::of(line));
                starts.push(line.as_ptr().addr() - compared.as_ptr().addr());
            }
        }
        let is_own = |span: &&Span| !span.is_in(code.nested);
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

/// The lines of code, with those that a bracket or a string holds together as one: how a statement is wrapped is layout. What stands in
/// braces has lines of its own.
fn statements_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let mut end = 0;
        let mut open = 0_usize;
        for _ in 0..WRAPPED_LINES_MAX {
            let line = rest[end..].split_inclusive('\n').next()?;
            if end > 0 && line.trim_start().starts_with('#') {
                break;
            }
            let (left_open, length) = read_line(open, &rest[end..]);
            open = left_open;
            end += length;
            let is_last = end == rest.len();
            if open == 0 || is_last || rest[..end].trim_end().ends_with(['{', ';']) {
                break;
            }
        }
        let (statement, others) = rest.split_at(end);
        rest = others;
        (end > 0).then_some(statement)
    })
}

/// How many brackets are open after the first line of a text, if so many were before it, and the line's length. A string goes on over
/// line ends where its mark says so.
fn read_line(mut open: usize, text: &str) -> (usize, usize) {
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let mut at = 0;
    let mut end = line_end(0);
    while let Some(found) = text[at..end].find(['(', '[', ')', ']', '"', '\'', '`', '/']) {
        at += found;
        let mark = text.as_bytes()[at];
        let rest = &text[at..];
        let long = ["\"\"\"", "'''", "`"];
        let quote = long.iter().find(|quote| rest.starts_with(**quote));
        at += quote.map_or(1, |quote| quote.len());
        match (mark, quote) {
            (b'/', _) if text[at..].starts_with('/') => break,
            (b'/', _) => {}
            (b'(' | b'[', _) => open += 1,
            (b')' | b']', _) => open = open.saturating_sub(1),
            // A mark that closes nowhere begins no string.
            (_, Some(quote)) => {
                at = text[at..]
                    .find(quote)
                    .map_or(at, |closes| at + closes + quote.len());
                end = end.max(line_end(at));
            }
            (_, None) => {
                let closes = text[at..end].find(char::from(mark));
                at = closes.map_or(at, |closes| at + closes + 1);
            }
        }
    }
    (open, end)
}

impl<'c> CodeLine<'c> {
    fn of(line: &'c str) -> Self {
        Self {
            text: line.trim_end(),
            key: line_key(line),
            words: words_of(line).collect(),
        }
    }

    fn depth(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    fn begins_with(&self, any: &[&str]) -> bool {
        let first = self.words.first();
        first.is_some_and(|first| any.contains(first))
    }

    /// Whether it fails or ends the program, by itself or by what it calls, however that is qualified.
    fn fails(&self) -> bool {
        let called = self.text.split_once('(').and_then(|(before, _)| {
            let word = words_of(before).last();
            word.filter(|word| before.ends_with(*word) || before.ends_with('!'))
        });
        let said = self.words.first().into_iter().chain(called.as_ref());
        said.into_iter()
            .any(|word| FAILURES.contains(&word.to_ascii_lowercase().as_str()))
    }

    fn jumps(&self) -> bool {
        // `return_if_error(…)` returns as well.
        self.words.iter().any(|word| {
            JUMPS.contains(word) || FAILURES.contains(word) || word.starts_with("return_")
        })
    }

    fn part(&self) -> Option<Part> {
        let text = self.text.trim_start();
        let is_remark = text.starts_with("#[doc =") || text.starts_with("#[doc=");
        let is_attribute = text.starts_with("#[") && !is_remark;
        if text.starts_with('@') || is_attribute {
            Some(Part::Decorator)
        } else if self.begins_with(&CONDITIONS) {
            Some(Part::Condition)
        } else if self.begins_with(&LOOPS) {
            Some(Part::Loop)
        } else if self.begins_with(&HANDLERS) || self.begins_with(&CATCHES) {
            Some(Part::Handler)
        } else if self.begins_with(&BRANCHES) {
            Some(Part::Branch)
        } else if self.fails() || self.begins_with(&JUMPS) {
            Some(Part::Failure)
        } else {
            None
        }
    }

    /// Whether it can do what such a part does.
    fn can_be(&self, part: Part) -> bool {
        let says = |any: &[&str]| self.words.iter().any(|word| any.contains(word));
        match part {
            Part::Decorator => self.part() == Some(part),
            Part::Condition => {
                says(&DECIDING)
                    || ["?", "&&", "||"]
                        .iter()
                        .any(|mark| self.text.contains(mark))
            }
            // What was done for each may be done at once.
            Part::Loop | Part::Branch => self.words.len() > 1,
            Part::Handler => self.part() == Some(part) || says(&CATCHES),
            Part::Failure => self.fails() || self.jumps() || says(&CATCHES),
        }
    }

    /// Whether it decides, repeats, handles or leaves; what only asserts is a call like others.
    fn controls(&self) -> bool {
        let part = self.part().filter(|_| !self.fails());
        part.is_some_and(|part| part != Part::Condition || self.jumps())
    }

    /// Whether it passes nothing on: it is a call by itself of what `old` didn't call, or names a value that no other line of the code uses.
    fn is_hollow(&self, old: &[CodeLine<'_>], code: &[CodeLine<'_>]) -> bool {
        let text = self.text.trim().trim_end_matches(';');
        let end = text.find(['(', '"', '\'', '[', '{']).unwrap_or(text.len());
        let (head, given) = text.split_at(end);
        let is_path = |c: char| c.is_alphanumeric() || "_.:->!".contains(c);
        let (target, is_value) = head
            .split_once('=')
            .map_or((head, false), |it| (it.0, true));
        let name = words_of(target).last().unwrap_or_default();
        let mut users = if is_value { code } else { old }.iter();
        let does = users.any(|it| !core::ptr::eq(it, self) && it.words.contains(&name))
            || if is_value {
                target.contains(['.', '*', '>', '+', '-'])
            } else {
                !given.starts_with('(') || !given.ends_with(')') || !head.chars().all(is_path)
            };
        self.part().is_none() && !does
    }

    /// What it calls by itself or on its own object, by names of several words. A name of one word may be the language's own, and what is
    /// called on something else can't be told.
    fn callees<'o>(
        &self,
        receiver: Option<&'o str>,
        of: &'o dyn Fn(&str) -> Callee,
    ) -> impl Iterator<Item = Callee> {
        let code = self.text.split('"').step_by(2);
        let called = code.flat_map(|code| code.match_indices('(').map(|(at, _)| &code[..at]));
        called.filter_map(move |before| {
            let name = words_of(before).last()?;
            let qualifier = before.strip_suffix(name)?;
            // A spread is no object.
            let qualifier = qualifier.strip_suffix("...").unwrap_or(qualifier);
            let object = qualifier.trim_end_matches(['.', '-', '>']);
            let is_own = || {
                let last = words_of(object).last()?;
                let front = object.strip_suffix(last)?;
                let is_own = ["self", "this"].contains(&last) || receiver == Some(last);
                Some(is_own && !front.ends_with('.'))
            };
            let is_qualified = match object.len() == qualifier.len() {
                true => qualifier.ends_with([':', '\'']),
                false => is_own() != Some(true),
            };
            let inside = name.trim_matches('_');
            let has_words = inside.contains('_')
                || inside.contains(char::is_lowercase)
                    && inside.chars().skip(1).any(char::is_uppercase);
            (has_words && !is_qualified).then(|| of(name))
        })
    }

    /// The word for the object whose method this head begins, where the language leaves it to the head.
    fn receiver(&self) -> Option<&'c str> {
        words_of(self.text.strip_prefix("func (")?).next()
    }

    /// Whether it has a word that says what it is about, and one of `lines` has it, too.
    fn is_about(&self, lines: &[CodeLine<'_>]) -> bool {
        // What fails is about what it is given alone, and what a string says computes nothing.
        let given = self.text.split_once('(').map_or("", |(_, given)| given);
        let computed = if self.fails() { given } else { self.text };
        let said = computed.split('"').step_by(2).flat_map(words_of);
        said.filter(is_name)
            .any(|word| lines.iter().any(|line| line.words.contains(&word)))
    }
}

fn compared_text<'c>(code: ComparedCode<'c>) -> Cow<'c, str> {
    blanked(code.text, code.remarks.iter().chain(code.nested))
}

/// The text with spaces for these parts of it, so that positions stay the same.
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
    // A span that ends inside a character would leave half of it: then the text is compared with its remarks, which refuses
    // more and never less.
    String::from_utf8(bare).map_or(Cow::Borrowed(text), Cow::Owned)
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

/// Compares code with its base.
#[must_use]
pub fn compare(
    content: DefinitionContent,
    base: ComparedCode<'_>,
    new: ComparedCode<'_>,
    context: ChangeContext<'_>,
) -> Comparison {
    let (base_text, new_text) = (compared_text(base), compared_text(new));
    let (base, new) = (
        CodeLines::of(base, &base_text),
        CodeLines::of(new, &new_text),
    );
    let hunks = align_hunks(&base.code, &new.code);
    let receiver = new.code.iter().find_map(CodeLine::receiver);
    // A call does what it calls, if that is known.
    let calls = hunks.iter().flat_map(|hunk| {
        let lines = new.code[hunk.new.clone()].iter();
        lines.flat_map(move |line| {
            let callees = line.callees(receiver, context.callee);
            callees.map(move |callee| (hunk, line, callee))
        })
    });
    let calls: Vec<(&LineHunk, &CodeLine<'_>, Callee)> = calls.collect();
    let texts = calls.iter().filter_map(|(.., callee)| match callee {
        Callee::Brought(text) => Some(text),
        Callee::Known | Callee::Unknown => None,
    });
    let brought = texts.flat_map(|text| statements_of(text));
    let brought: Vec<CodeLine<'_>> = brought.map(CodeLine::of).collect();
    let is_nothing = |(hunk, _, callee): &&(&LineHunk, &CodeLine<'_>, Callee)| match callee {
        Callee::Known => false,
        Callee::Unknown => true,
        Callee::Brought(_) => {
            let (old, fresh) = (&base.code[hunk.base.clone()], &new.code[hunk.new.clone()]);
            !has_names_of(&brought, old, fresh)
        }
    };
    let invented = calls.iter().filter(is_nothing).map(|(_, line, _)| *line);
    let invented: Vec<&CodeLine<'_>> = invented
        .filter(|line| line.part() != Some(Part::Loop))
        .collect();
    let is_invented = |line: &CodeLine<'_>| invented.iter().any(|it| core::ptr::eq(*it, line));
    let may_be = |old: &CodeLine<'_>, new: &CodeLine<'_>| {
        let is_loop = old.part() == Some(Part::Loop);
        is_like(old, new) && !(is_loop && is_invented(new))
    };
    let pairs = hunks.iter().map(|hunk| {
        let (old, fresh) = (&base.code[hunk.base.clone()], &new.code[hunk.new.clone()]);
        unpaired_lines(old, fresh, &may_be)
    });
    let pairs: Vec<_> = pairs.collect();
    let added_lines: Vec<&CodeLine<'_>> =
        pairs.iter().flat_map(|(_, added)| added).copied().collect();
    let was_moved = |line: &CodeLine<'_>| {
        let mut fresh = added_lines.iter().copied().chain(&brought);
        context.moved_to.contains(&line.key)
            || fresh.any(|it| may_be(line, it) && it.is_about(core::slice::from_ref(line)))
    };
    let ends_statements = base.code.iter().any(|it| it.text.ends_with(';'));
    let is_hollow = |line: &CodeLine<'_>, old: &[CodeLine<'_>]| {
        // Where statements have an end, a call without one is a value.
        let is_statement = line.text.ends_with(';') || !ends_statements;
        is_statement && content == DefinitionContent::Statements && line.is_hollow(old, &new.code)
    };
    let asked = lines_asked(&base.code, context.asked);
    let known_remarks: BTreeSet<&str> =
        base.remarks.iter().map(|(text, _)| text.as_str()).collect();
    let mut judged = DamageTally::default();
    let mut brought_parts: Vec<&CodeLine<'_>> = Vec::new();
    for (hunk, (gone, added)) in hunks.iter().zip(&pairs) {
        let (old, fresh) = (&base.code[hunk.base.clone()], &new.code[hunk.new.clone()]);
        let (mut gone, mut added) = (gone.clone(), added.clone());
        gone.retain(|line| !was_moved(line));
        let mut own = calls.iter().filter(|(it, ..)| core::ptr::eq(*it, hunk));
        if own.any(|(.., callee)| matches!(callee, Callee::Brought(_))) {
            // A part whose names are others where it went is told by how many of its kind are there.
            let count = |part, lines: &mut dyn Iterator<Item = &CodeLine<'_>>| {
                lines.filter(|it| it.part() == Some(part)).count()
            };
            let is_there =
                |part| count(part, &mut brought.iter()) >= count(part, &mut gone.iter().copied());
            let is_brought = |line: &CodeLine<'_>| line.part().is_some_and(is_there);
            brought_parts.extend(gone.iter().filter(|line| is_brought(line)));
            gone.retain(|line| !brought_parts.iter().any(|it| core::ptr::eq(*it, *line)));
        }
        // What is asked to go, or to go elsewhere, isn't asked to be left to something that nobody knows.
        let has_invented = fresh.iter().any(is_invented);
        gone.retain(|line| has_invented || !asked.contains(line.key.as_str()));
        // One statement in the place of several is a stub, whatever was changed beside it.
        let is_stub = |added: &[&CodeLine<'_>]| {
            let only = match added {
                [only] if gone.len() > 1 => Some(*only),
                _ => fresh.first().filter(|_| fresh.len() == 1),
            };
            only.is_some_and(|it| is_stub(old, &gone, it) || computes_nothing(old, &gone, it))
        };
        let was_stub = is_stub(&added);
        let passes_nothing_on = |it: &CodeLine<'_>| is_hollow(it, old) || is_invented(it);
        let hollow = added.iter().filter(|it| passes_nothing_on(it)).count();
        if hollow < gone.len() || gone.iter().any(|it| it.controls()) {
            added.retain(|it| !passes_nothing_on(it));
        }
        let is_stub = was_stub || is_stub(&added);
        let places = possible_positions(&base.code, hunk);
        let first = new
            .remarks
            .partition_point(|(_, before)| *before < places.start);
        let mut remarks = new.remarks[first..]
            .iter()
            .take_while(|(_, before)| *before <= places.end)
            .filter(|(text, _)| !known_remarks.contains(text.as_str()));
        judged.add_effect(&HunkEffect {
            // A line that is commented out isn't hidden from the user.
            has_remark: remarks
                .any(|(text, _)| gone.len() > 1 || !gone.iter().any(|it| text.contains(&it.key))),
            is_stub,
            is_recent: &|line| context.added_last.contains(&line.key),
            is_end: hunk.base.end == base.code.len() && is_end_gone(old, &gone, fresh),
            is_emptied: is_emptied(&base.code, &new.code, hunk),
            is_called_away: has_invented && is_loop_gone(&gone, fresh),
            are_members: content == DefinitionContent::Members,
            gone,
            added,
            old,
            new: fresh,
        });
    }
    let is_excused = |line: &CodeLine<'_>| {
        was_moved(line)
            || asked.contains(line.key.as_str())
            || brought_parts.iter().any(|it| core::ptr::eq(*it, line))
    };
    let mut lost = guards_beyond(&base.code, &new.code);
    lost.retain(|check| !is_excused(check));
    let replaced = guards_beyond(&new.code, &base.code).len();
    if lost.len() > replaced.saturating_sub(usize::from(context.adds_check)) {
        judged.worst = judged.worst.into_iter().chain([Damage::PartRemoved]).min();
    }
    judged.into_comparison(words_in(&base.code), context.may_shrink)
}

/// Checks that leave, of which the other code has neither the condition, however extended, nor the exit.
fn guards_beyond<'l, 'c>(
    code: &'l [CodeLine<'c>],
    other: &[CodeLine<'_>],
) -> Vec<&'l CodeLine<'c>> {
    let count = |lines: &[CodeLine<'_>], key: &str| lines.iter().filter(|it| it.key == key).count();
    let is_kept = |line: &CodeLine<'_>| count(other, &line.key) >= count(code, &line.key);
    let is_extended = |line: &CodeLine<'_>| {
        let mut conditions = other.iter().filter(|it| it.can_be(Part::Condition));
        conditions.any(|it| line.words.iter().all(|word| it.words.contains(word)))
    };
    let is_lost = |(index, line): &(usize, &'l CodeLine<'c>)| {
        let is_inside = |it: &&CodeLine<'_>| it.depth() > line.depth();
        let exit = code[index + 1..]
            .iter()
            .take_while(is_inside)
            .last()
            .unwrap_or(line);
        let leaves = line.part() == Some(Part::Condition) && exit.jumps();
        leaves && !is_kept(line) && !is_kept(exit) && !is_extended(line)
    };
    let guards = code.iter().enumerate().filter(is_lost);
    guards.map(|(_, line)| line).collect()
}

/// The keys of the lines that the user asks to take out, with what is inside of them: of a head a parameter, and not the body. Of
/// several that one removal may mean those go that its words fit best.
fn lines_asked<'l>(base: &'l [CodeLine<'_>], asked: &ClaimsOnLine<'_>) -> BTreeSet<&'l str> {
    let inside = |at: usize| {
        let lines = base[at + 1..].iter();
        lines.take_while(move |line| line.depth() > base[at].depth())
    };
    let claims: Vec<Vec<(usize, u32)>> = (0..base.len())
        .map(|at| {
            let held = || inside(at).flat_map(|line| [line.text, "\n"]).collect();
            asked(base[at].text, &held)
        })
        .collect();
    let mut best: BTreeMap<usize, u32> = BTreeMap::new();
    for (removal, fit) in claims.iter().flatten() {
        let best = best.entry(*removal).or_default();
        *best = (*best).max(*fit);
    }
    let head = base
        .iter()
        .position(|line| line.part() != Some(Part::Decorator));
    let mut keys = BTreeSet::new();
    for (at, claims) in claims.iter().enumerate() {
        if claims.iter().any(|(removal, fit)| best[removal] == *fit) {
            keys.insert(base[at].key.as_str());
            let inside = inside(at).filter(|_| head.is_some_and(|head| head < at));
            keys.extend(inside.map(|line| line.key.as_str()));
        }
    }
    keys
}

/// Whether a base's last line is gone, and no other ends the new code.
fn is_end_gone(old: &[CodeLine<'_>], gone: &[&CodeLine<'_>], new: &[CodeLine<'_>]) -> bool {
    let (Some(last), Some(last_gone)) = (old.last(), gone.last()) else {
        return false;
    };
    core::ptr::eq(last, *last_gone)
        && last.words.len() > 1
        && !new.last().is_some_and(CodeLine::jumps)
}

/// Whether nothing is left of what a loop, a handler or the like held.
fn is_emptied(base: &[CodeLine<'_>], new: &[CodeLine<'_>], hunk: &LineHunk) -> bool {
    let [(Some(head), [first, ..]), (Some(head_now), left)] =
        [(base, &hunk.base), (new, &hunk.new)].map(|(code, lines)| {
            let (before, rest) = code.split_at(lines.start);
            (before.last(), rest)
        })
    else {
        return false;
    };
    let does_nothing = |line: &CodeLine<'_>| line.words == ["pass"];
    let mut held = left
        .iter()
        .take_while(|line| line.depth() > head_now.depth());
    !hunk.base.is_empty()
        && first.depth() > head.depth()
        && !does_nothing(first)
        && held.next().is_none_or(does_nothing)
        && held.next().is_none()
}

/// Whether code has two thirds of the names in the old lines that are in none of the new ones: it may do what they did.
fn has_names_of(code: &[CodeLine<'_>], old: &[CodeLine<'_>], new: &[CodeLine<'_>]) -> bool {
    let has = |lines: &[CodeLine<'_>], name: &&str| lines.iter().any(|it| it.words.contains(name));
    let words = old.iter().flat_map(|line| line.words.iter().copied());
    let names: BTreeSet<&str> = words
        .filter(is_name)
        .filter(|name| !has(new, name))
        .collect();
    3 * names.iter().filter(|name| has(code, name)).count() >= 2 * names.len()
}

/// Whether a loop is gone, and nothing that repeats is new.
fn is_loop_gone(gone: &[&CodeLine<'_>], new: &[CodeLine<'_>]) -> bool {
    let repeats = |line: &CodeLine<'_>| line.words.iter().any(|word| LOOPS.contains(word));
    gone.iter().any(|line| line.part() == Some(Part::Loop)) && !new.iter().any(repeats)
}

/// Whether one statement that has to do with none of them replaced several lines.
fn computes_nothing(old: &[CodeLine<'_>], gone: &[&CodeLine<'_>], only: &CodeLine<'_>) -> bool {
    let words = words_in(gone.iter().copied());
    gone.len() >= REMOVED_LINES_MIN && words >= 2 * STUBBED_WORDS && !only.is_about(old)
}

/// The keys of all lines of some code, by which [`compare`] finds what was moved.
pub fn line_keys(text: &str) -> impl Iterator<Item = String> {
    statements_of(text)
        .map(line_key)
        .filter(|key| !key.is_empty())
}

/// Compares a file's imports with those of its base; each is given as the text and the ranges of its imports. A lost import
/// is damage if the rest of the file uses a name that it binds. An include binds no names, so each lost one is damage.
#[must_use]
pub fn compare_imports(
    (base, imports): (&str, &[Span]),
    (new, new_imports): (&str, &[Span]),
    is_asked: &dyn Fn(&str) -> bool,
) -> Comparison {
    let text_of = |text: &str, imports| {
        let joined = slice::joined(text.as_bytes(), imports);
        String::from_utf8_lossy(&joined).into_owned()
    };
    let (before, kept) = (text_of(base, imports), text_of(new, new_imports));
    let code = slice::text_outside(new, new_imports.iter().map(|span| span.range()));
    Comparison {
        damage: is_import_missing(&before, &kept, &code, is_asked).then_some(Damage::PartRemoved),
        ..Comparison::UNHARMED
    }
}

fn is_import_missing(
    before: &str,
    kept: &str,
    code: &str,
    is_asked: &dyn Fn(&str) -> bool,
) -> bool {
    let kept_words: BTreeSet<&str> = words_of(kept).collect();
    let kept_lines: BTreeSet<String> = line_keys(kept).collect();
    let gone = before
        .lines()
        .filter(|line| !kept_lines.contains(&line_key(line)) && !is_asked(line));
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

/// Whether a word says what code is about.
fn is_name(word: &&str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' && word.len() > 1)
        && !COMMON_WORDS.contains(word)
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
    may_be: &dyn Fn(&CodeLine<'_>, &CodeLine<'_>) -> bool,
) -> (Vec<&'l CodeLine<'c>>, Vec<&'l CodeLine<'c>>) {
    let (mut left, mut added) = (Vec::new(), Vec::new());
    let mut from = 0;
    for line in gone {
        let ahead = new[from..].iter().take(PAIRED_AHEAD_MAX);
        match ahead.clone().position(|other| may_be(line, other)) {
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
    if one.part().is_some_and(|part| !other.can_be(part)) {
        return false;
    }
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
fn is_stub(gone: &[CodeLine<'_>], left: &[&CodeLine<'_>], only: &CodeLine<'_>) -> bool {
    let fails = only.fails();
    // `return f();` for `x = f(); return x;` does the same, and so may what computes its value from what was there.
    let computes = (fails || only.words.len() > COMPUTING_WORDS) && only.is_about(gone);
    let is_new = |word: &&str| !gone.iter().any(|line| line.words.contains(word));
    // `return 0;` for `*x = y; return OK;` is like the one, and leaves out the other.
    let is_else = left.len() > 1 || gone.len() > 1 && only.words.iter().skip(1).all(is_new);
    (fails || is_else && only.begins_with(&ENDINGS)) && !computes
}

fn words_in<'l, 'c: 'l>(lines: impl IntoIterator<Item = &'l CodeLine<'c>>) -> usize {
    lines.into_iter().map(|line| line.words.len()).sum()
}

/// The effect of one hunk.
struct HunkEffect<'l, 'c> {
    old: &'l [CodeLine<'c>],
    new: &'l [CodeLine<'c>],
    /// Lines of the base that neither their replacement nor any moved line resembles.
    gone: Vec<&'l CodeLine<'c>>,
    /// Lines of the replacement that resemble none of them.
    added: Vec<&'l CodeLine<'c>>,
    /// Whether the replacement has a new remark.
    has_remark: bool,
    /// Whether a stub replaced all of them.
    is_stub: bool,
    /// Whether the last accepted change added a line.
    is_recent: &'l dyn Fn(&CodeLine<'_>) -> bool,
    /// Whether the base's end is among them.
    is_end: bool,
    /// Whether they were all that something held.
    is_emptied: bool,
    /// Whether they were a loop, for which a call of what nobody knows stands.
    is_called_away: bool,
    are_members: bool,
}

/// The damage of all hunks together.
#[derive(Default)]
struct DamageTally {
    worst: Option<Damage>,
    removed_words: usize,
    removed_lines: usize,
    /// Of each part how many are gone, less the lines that may do the same.
    parts_gone: BTreeMap<Part, isize>,
}

impl DamageTally {
    fn add_effect(&mut self, replacement: &HunkEffect<'_, '_>) {
        let HunkEffect { gone, added, .. } = replacement;
        let words = words_in(gone.iter().copied());
        self.count_parts(replacement);
        if words == 0 {
            return;
        }
        let damage = if replacement.has_remark && 4 * words_in(added.iter().copied()) <= words {
            Some(Damage::Elided)
        } else if replacement.is_stub {
            Some(Damage::StubInPlace)
        } else {
            let is_empty = added.is_empty();
            if is_empty {
                self.removed_words += words;
                self.removed_lines += gone.len();
            }
            // An `else` alone is no lost branch: its code is still there.
            let is_lost = |line: &&CodeLine<'_>| match line.part() {
                Some(Part::Branch) => words > 1,
                part => part == Some(Part::Loop),
            };
            let is_part = gone.iter().any(is_lost)
                || replacement.is_end
                || replacement.are_members
                || gone.iter().any(|line| (replacement.is_recent)(line));
            let is_lost =
                is_empty && is_part || replacement.is_emptied || replacement.is_called_away;
            is_lost.then_some(Damage::PartRemoved)
        };
        self.worst = match (self.worst, damage) {
            (Some(worst), Some(damage)) => Some(worst.min(damage)),
            (worst, damage) => worst.or(damage),
        };
    }

    /// Parts are counted over all hunks: a check may have gone to another place in another form. Among lines that others replaced, only what
    /// the last change added counts: a user who has just asked for a check still wants it.
    fn count_parts(&mut self, replacement: &HunkEffect<'_, '_>) {
        let HunkEffect {
            gone,
            added,
            old,
            new,
            is_recent,
            ..
        } = replacement;
        for part in [
            Part::Decorator,
            Part::Condition,
            Part::Handler,
            Part::Failure,
        ] {
            let is_lost = |(index, line): &(usize, &&CodeLine<'_>)| {
                // A check in one line that skips nothing but itself is a statement like others.
                let below = gone.get(index + 1);
                let has_body = || below.is_some_and(|below| below.depth() > line.depth());
                let is_statement = part == Part::Condition
                    && line.text.trim_end().ends_with(';')
                    && !line.jumps()
                    && !has_body();
                let counts = added.is_empty() || is_recent(line);
                line.part() == Some(part) && !is_statement && counts
            };
            let lost = gone.iter().enumerate().filter(is_lost).count();
            let count = |lines: &[CodeLine<'_>]| lines.iter().filter(|it| it.can_be(part)).count();
            // A line that is changed may do now what the lost one did.
            let kept = count(old) - gone.iter().filter(|it| it.can_be(part)).count();
            let found = count(new).saturating_sub(kept);
            *self.parts_gone.entry(part).or_default() += lost as isize - found as isize;
        }
    }

    fn into_comparison(self, base_words: usize, may_shrink: bool) -> Comparison {
        let removed_percent = (self.removed_words * 100).div_ceil(base_words.max(1));
        debug_assert!(
            removed_percent <= 100,
            "removed lines are some of the base's"
        );
        // Rounded against the change.
        let kept_percent = 100 - u8::try_from(removed_percent.min(100)).unwrap_or(100);
        let is_much =
            !may_shrink && kept_percent < KEPT_PERCENT && self.removed_lines >= REMOVED_LINES_MIN;
        let is_part_gone = self.parts_gone.values().any(|gone| *gone > 0);
        let part_gone = is_part_gone.then_some(Damage::PartRemoved);
        let worst = self.worst.into_iter().chain(part_gone).min();
        Comparison {
            damage: worst.or(is_much.then_some(Damage::MuchRemoved)),
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
        let context = ChangeContext {
            moved_to: &moved_to,
            ..UNASKED
        };
        compare(DefinitionContent::Statements, base, new, context).damage
    }

    const UNASKED: ChangeContext<'_> = ChangeContext {
        moved_to: &BTreeSet::new(),
        added_last: &BTreeSet::new(),
        callee: &|_| Callee::Known,
        asked: &|_, _| Vec::new(),
        may_shrink: false,
        adds_check: false,
    };

    /// A missing part is damage unless something similar replaced it.
    #[test]
    fn part_removed() {
        let part = Some(Damage::PartRemoved);
        let check = |base: &str, new: &str, expected: Option<Damage>| {
            assert_eq!(compared(base, new, ""), expected, "{new}");
        };
        let guarded = "def f(items):\n    if not items:\n        return 0\n    total = 0\n    for item in items:\n        total += item.price\n    return total\n";
        let unguarded = guarded.replace("    if not items:\n        return 0\n", "");
        check(guarded, &unguarded, part);
        check(
            guarded,
            &unguarded.replace("total = 0", "total = 0.0"),
            part,
        );
        check(
            guarded,
            &guarded.replace("if not items", "if len(items) == 0"),
            None,
        );
        check(
            guarded,
            &guarded.replace("    for item in items:\n        total += item.price\n", ""),
            part,
        );
        let decorated = "@property\n@cache\ndef f(self):\n    return self.x\n";
        check(decorated, &decorated.replace("@cache\n", ""), part);
        check(decorated, &decorated.replace("@cache", "@lru_cache"), None);
        let replaced = guarded
            .replace("not items", "items is None")
            .replace("return 0", "raise E");
        check(guarded, &replaced, None);
        let condition = "    if (b < 0) {\n        log_error(a, b);\n        return -1;\n";
        let other = "    if (a > 9) {\n        return -2;\n";
        let replaced = BASE.replace(condition, other);
        for (adds_check, expected) in [(false, None), (true, part)] {
            let code = |text| ComparedCode {
                text,
                remarks: &[],
                nested: &[],
            };
            let context = ChangeContext {
                adds_check,
                ..UNASKED
            };
            let content = DefinitionContent::Statements;
            let comparison = compare(content, code(BASE), code(&replaced), context);
            assert_eq!(comparison.damage, expected, "one more check: {adds_check}");
        }
        let wrapped = guarded.replace(
            "total += item.price",
            "total += price(\n            item,\n        )",
        );
        check(guarded, &wrapped, None);
        check(
            &wrapped,
            &wrapped.replace("(\n            item,\n        )", "(item)"),
            None,
        );
        let handled = "try:\n    run()\nexcept E as e:\n    log(e)\n    raise\n";
        check(
            handled,
            &handled.replace("    log(e)\n    raise\n", "    pass\n"),
            Some(Damage::StubInPlace),
        );
        check(handled, &handled.replace("    raise\n", ""), part);
        check(handled, "run()\n", part);
    }

    /// One statement that has nothing to do with the lines it replaces is a stub.
    #[test]
    fn unrelated_statement() {
        for hollow in [
            "    rest_of_body();\n",
            "    _ = \"unchanged\";\n",
            "    if (false) { }\n",
        ] {
            check(3..=11, hollow, Some(Damage::StubInPlace));
        }
        check(
            3..=11,
            "    std::process::exit(1);\n",
            Some(Damage::StubInPlace),
        );
        check(9..=10, "    b = finish(a, b + 1);\n", None);
        let beside_a_rename = "int f(int value) {\n    int b = load(value);\n    abort();\n}\n";
        assert_eq!(
            compared(BASE, beside_a_rename, ""),
            Some(Damage::StubInPlace)
        );
    }

    /// Code that passes nothing on cannot replace several statements, a branch or an exit.
    #[test]
    fn nothing_passed_on() {
        let part = Some(Damage::PartRemoved);
        for hollow in ["    trace(b);\n", "    int copy = b;\n"] {
            check(3..=8, hollow, part);
            check(10..=10, hollow, None);
            check(11..=11, hollow, part);
        }
        check(3..=5, "    log(\"b is\", b);\n    count(a);\n", part);
        let without_end = "fn f(a: u8) -> u8 {\n    check(a);\n    return a;\n}\n";
        let value = without_end.replace("    return a;\n", "    doubled(a)\n");
        assert_eq!(compared(without_end, &value, ""), None);
    }

    /// A call stands for the code of the function that it calls.
    #[test]
    fn extracted_call() {
        let base = "def f(items, limit):\n    total = 0\n    for item in items:\n        if item.count > limit:\n            continue\n        total += item.price\n    return total\n";
        let loop_lines =
            &base[base.find("    total").expect("there")..base.find("    return").expect("there")];
        let called = base.replace(loop_lines, "    total = sum_up(items, limit)\n");
        let helper = |body: &str| format!("def sum_up(items, limit):\n{body}");
        let whole = helper(&format!("{loop_lines}    return total\n"));
        let renamed = whole.replace("item", "it").replace("limit", "most");
        let part = Some(Damage::PartRemoved);
        for (callee, expected) in [
            (Callee::Known, None),
            (Callee::Unknown, part),
            (Callee::Brought(helper("    return 0\n")), part),
            (Callee::Brought(whole), None),
            (Callee::Brought(renamed), None),
        ] {
            let context = ChangeContext {
                callee: &|name| match name {
                    "sum_up" => callee.clone(),
                    other => panic!("{other} isn't called by itself"),
                },
                // As if the loop was asked to be moved.
                asked: &|line, _| Vec::from_iter(line.contains("for item").then_some((0, 0))),
                ..UNASKED
            };
            let code = |text| ComparedCode {
                text,
                remarks: &[],
                nested: &[],
            };
            let content = DefinitionContent::Statements;
            let comparison = compare(content, code(base), code(&called), context);
            assert_eq!(comparison.damage, expected, "{callee:?}");
        }
    }

    /// What was asked to go is not missed, and what was just added is kept.
    #[test]
    fn asked_and_added() {
        let new = BASE.replace("    notify(a);\n", "");
        fn code(text: &str) -> ComparedCode<'_> {
            ComparedCode {
                text,
                remarks: &[],
                nested: &[],
            }
        }
        let damage = |new: &str, context: ChangeContext<'_>| {
            compare(
                DefinitionContent::Statements,
                code(BASE),
                code(new),
                context,
            )
            .damage
        };
        assert_eq!(damage(&new, UNASKED), None);
        let added_last = line_keys("notify(a);").collect();
        let recent = ChangeContext {
            added_last: &added_last,
            ..UNASKED
        };
        assert_eq!(damage(&new, recent), Some(Damage::PartRemoved));
        let asked = ChangeContext {
            asked: &|line, _| Vec::from_iter(line.contains("if").then_some((0, 0))),
            ..UNASKED
        };
        let lines: Vec<&str> = BASE.split_inclusive('\n').collect();
        let unguarded = [&lines[..2], &lines[8..]].concat().concat();
        assert_eq!(damage(&unguarded, UNASKED), Some(Damage::PartRemoved));
        assert_eq!(
            damage(
                &unguarded,
                ChangeContext {
                    may_shrink: true,
                    ..UNASKED
                }
            ),
            Some(Damage::PartRemoved)
        );
        let without_check = [&lines[..2], &lines[5..]]
            .concat()
            .concat()
            .replace("} else {", "{");
        assert_eq!(damage(&without_check, asked), None);
        // A parameter's name is in the head, which holds all of the body.
        let parameter = ChangeContext {
            asked: &|line, _| Vec::from_iter(line.contains("int a").then_some((0, 0))),
            ..UNASKED
        };
        let lost = Some(Damage::PartRemoved);
        assert_eq!(damage(&without_check, parameter), lost);
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

    /// A remark in place of code is an elision, whatever it says.
    #[test]
    fn remark_for_code() {
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

    /// A statement that ends the function in place of code is a stub.
    #[test]
    fn ending_statement() {
        check(3..=11, "    abort();\n", Some(Damage::StubInPlace));
        check(
            2..=10,
            "    throw std::logic_error(\"not implemented\");\n",
            Some(Damage::StubInPlace),
        );
        check(9..=9, "    return 0;\n", None);
    }

    /// A loss counts from a certain size on; branches and exits always count.
    #[test]
    fn smallest_loss() {
        check(10..=10, "", None);
        check(6..=7, "", Some(Damage::PartRemoved));
        check(11..=11, "", Some(Damage::PartRemoved));
        check(9..=11, "", Some(Damage::PartRemoved));
        check(3..=5, "", Some(Damage::PartRemoved));
        check(2..=2, "", None);
    }

    #[test]
    fn harmless_changes() {
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
    fn moved_code() {
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

    /// An import is missing if what it binds is still used.
    #[test]
    fn missing_imports() {
        let check = |before: &str, after: &str, code: &str, expected| {
            let is_missing = is_import_missing(before, after, code, &|_| false);
            assert_eq!(is_missing, expected, "{after}");
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
    fn missing_members() {
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
            compare(content, code(fields), code(&without_one), UNASKED).damage
        };
        assert_eq!(
            compared(DefinitionContent::Members),
            Some(Damage::PartRemoved)
        );
        assert_eq!(compared(DefinitionContent::Statements), None);
    }

    /// A remark that replaces one of two equal lines is an elision.
    #[test]
    fn remark_for_twin() {
        let base = "void f() {\n    step(1);\n    step(1);\n    end();\n}\n";
        for new in [
            base.replacen("step(1);", "// as before", 1),
            base.replace("step(1);\n    end", "// as before\n    end"),
        ] {
            assert_eq!(compared(base, &new, ""), Some(Damage::Elided), "{new}");
        }
    }

    #[test]
    fn long_code() {
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
