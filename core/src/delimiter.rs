//! The fixed delimiters of injected text: written on the way out, recognised and stripped on the way in.

mod look_alike;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::opening_fence::{OpeningFence, OutsideFences};
use look_alike::Appearance;

/// Opens hydrated code (spec §8.2).
pub const STATE_OPEN: &str = "[CURRENT STATE: AUTHORITATIVE]";
/// Closes hydrated code (spec §8.2).
pub const STATE_CLOSE: &str = "[END CURRENT STATE]";
/// Opens a notice (spec §8.3).
pub const NOTICE_OPEN: &str = "[STATE NOTICE]";
/// Closes a notice (spec §8.3).
pub const NOTICE_CLOSE: &str = "[END NOTICE]";
/// Opens the Recent Context window (spec §8.4).
pub const RECENT_OPEN: &str = "[RECENT CONTEXT: READ-ONLY]";
/// Closes the Recent Context window (spec §8.4).
pub const RECENT_CLOSE: &str = "[END RECENT CONTEXT]";

/// Opens what the user keeps for the project (docs/memory.md).
pub const MEMORY_OPEN: &str = "[PROJECT MEMORY: READ-ONLY]";
/// Closes what the user keeps for the project.
pub const MEMORY_CLOSE: &str = "[END PROJECT MEMORY]";

/// Opens what a conversation is told of the work that it goes on with (docs/memory.md).
pub const RECOVERY_OPEN: &str = "[SESSION RECOVERY: READ-ONLY]";
/// Closes what a conversation is told of the work.
pub const RECOVERY_CLOSE: &str = "[END SESSION RECOVERY]";

/// Begins the line at a reply's end by which the user is told something. No model sees it.
pub const USER_LINE_OPEN: &str = "[tslp] ";

/// What stands between a reply and the line for the user.
const USER_LINE_GAP: &str = "\n\n";

/// The line for the user, as it is added to a reply.
#[must_use]
pub fn user_line(said: &str) -> String {
    [USER_LINE_GAP, USER_LINE_OPEN, said, "\n"].concat()
}

/// A reply as the model gave it, without the line for the user.
#[must_use]
pub fn without_user_line(reply: &str) -> &str {
    let text = reply.trim_end();
    let line = text.rfind('\n').map_or(0, |end| end + 1);
    if !text[line..].starts_with(USER_LINE_OPEN) {
        return reply;
    }
    let said = &text[..line];
    said.strip_suffix(USER_LINE_GAP).unwrap_or(said.trim_end())
}

/// A conversation that a client quotes to its model, without the lines for the user in it; `None` if there are none.
#[must_use]
pub fn without_quoted_user_lines(text: &str) -> Option<String> {
    let is_for_user = |line: &str| line.trim_start().starts_with(USER_LINE_OPEN);
    let lines = || text.split_inclusive('\n');
    lines()
        .any(is_for_user)
        .then(|| lines().filter(|line| !is_for_user(line)).collect())
}

const PAIRS: [(&str, &str); 5] = [
    (STATE_OPEN, STATE_CLOSE),
    (NOTICE_OPEN, NOTICE_CLOSE),
    (RECENT_OPEN, RECENT_CLOSE),
    (MEMORY_OPEN, MEMORY_CLOSE),
    RECOVERY,
];

/// Those of what a client's hook may bring as the client's own text.
const RECOVERY: (&str, &str) = (RECOVERY_OPEN, RECOVERY_CLOSE);

/// Removes every block that the proxy may have injected, so that nothing in it is recorded or taken for somebody's code: from a
/// line that is an opening delimiter to the next line that closes it. What goes to a model is [`defused`] instead.
#[must_use]
pub fn strip_blocks(text: &str) -> Cow<'_, str> {
    strip_pairs(text, &PAIRS)
}

fn strip_pairs<'t>(text: &'t str, pairs: &[(&str, &str)]) -> Cow<'t, str> {
    let cuts = injected_blocks(text, pairs);
    if cuts.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        kept.push_str(&text[from..cut.start]);
        from = cut.end;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// A reply as it is read and delivered: without what it repeats of the blocks that it was given. Hydrated code is the form of an
/// answer to small models. Its code stays, below a heading that names its entity in the place of the block's head; all other
/// blocks go with what is in them. What a fence shows in its middle is code that quotes us, and stays.
#[must_use]
pub fn unmarked(reply: &str) -> Cow<'_, str> {
    if !is_in(reply.as_bytes()) {
        return Cow::Borrowed(reply);
    }
    let other_blocks = injected_blocks(reply, &PAIRS[1..]);
    let mut out = String::with_capacity(reply.len());
    let (mut fence, mut outside) = (None::<OpeningFence<'_>>, OutsideFences::default());
    // Where the fence begins in `out` of which nothing but the block's head was read.
    let mut fence_start = None;
    let (mut in_head, mut is_open, mut is_doubled) = (false, false, false);
    let (mut at, mut cut_until) = (0, 0);
    for line in reply.split_inclusive('\n') {
        let (start, word) = (at, line.trim());
        at += line.len();
        if fence.is_none()
            && let Some(block) = other_blocks.iter().find(|it| it.start == start)
        {
            cut_until = block.end;
        }
        let begins = fence.is_none() || fence_start.is_some();
        if start < cut_until {
            continue;
        } else if word == STATE_OPEN && begins {
            (in_head, is_open) = (true, true);
            continue;
        } else if word == STATE_CLOSE && (is_open || fence.is_none()) {
            is_open = false;
            continue;
        } else if in_head && let Some(entity) = word.strip_prefix("Entity: ") {
            let heading = ["**", entity, "**\n\n"].concat();
            out.insert_str(fence_start.unwrap_or(out.len()), &heading);
            fence_start = fence_start.map(|at| at + heading.len());
            continue;
        } else if in_head && (word.starts_with("Artifact: ") || word.starts_with("Source: ")) {
            continue;
        } else if in_head && word.is_empty() {
            in_head = false;
            continue;
        }
        in_head = false;
        let opened = outside.read(line);
        let opens = fence.is_none() && opened.is_some();
        match &fence {
            // The block's own fence, in the one that the model has put around the block.
            Some(_) if is_open && fence_start.is_some() && opened.is_some() => {
                is_doubled = true;
                continue;
            }
            Some(around) if around.is_closed_by(line) => (fence, is_open) = (None, false),
            None if opened.is_some() && is_doubled => {
                is_doubled = false;
                continue;
            }
            None => fence = opened,
            Some(_) => {}
        }
        fence_start = opens.then_some(out.len());
        out.push_str(line);
    }
    match out == reply {
        true => Cow::Borrowed(reply),
        false => Cow::Owned(out),
    }
}

/// Whether bytes hold a delimiter as it is written.
#[must_use]
pub fn is_in(bytes: &[u8]) -> bool {
    let mut all = PAIRS.iter().flat_map(|(open, close)| [open, close]);
    all.any(|it| memchr::memmem::find(bytes, it.as_bytes()).is_some())
}

/// Whether the text holds any delimiter anywhere, or what looks like one.
#[must_use]
pub fn quoted_in(text: &str) -> bool {
    opening_brackets(text).any(|at| delimiter_at(text, at).is_some())
}

/// Whether the text holds a delimiter other than of what a client's hook brings.
#[must_use]
pub fn forged_in(text: &str) -> bool {
    let is_hooks = |at| {
        let (open, close) = RECOVERY;
        [open, close]
            .iter()
            .any(|it| match_loosely(&text[at..], it).is_some())
    };
    opening_brackets(text).any(|at| delimiter_at(text, at).is_some() && !is_hooks(at))
}

/// The text with the brackets of every delimiter replaced by round ones, so that it can't open or close a block.
#[must_use]
pub fn defused(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for at in opening_brackets(text) {
        let Some(delimiter) = delimiter_at(text, at) else {
            continue;
        };
        let opening = text[at..].chars().next().map_or(0, char::len_utf8);
        out.push_str(&text[from..at]);
        out.push('(');
        out.push_str(&text[at + opening..delimiter.last]);
        out.push(')');
        from = delimiter.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Byte ranges of whole injected blocks, each with its line end. One pass, linear.
fn injected_blocks<'p>(text: &str, pairs: &[(&'p str, &'p str)]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    if opening_brackets(text).next().is_none() {
        return blocks;
    }
    let mut open: Option<(usize, &str)> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let word = line.trim();
        match open {
            None => {
                if let Some((_, close)) = pairs.iter().find(|(open, _)| word == *open) {
                    open = Some((offset, close));
                }
            }
            Some((start, close)) if word == close => {
                blocks.push(start..offset + line.len());
                open = None;
            }
            Some(_) => {}
        }
        offset += line.len();
    }
    blocks
}

/// The positions of everything that looks like an opening bracket.
fn opening_brackets(text: &str) -> impl Iterator<Item = usize> {
    let is_plain = text.is_ascii();
    let plain = is_plain.then(|| memchr::memchr_iter(b'[', text.as_bytes()));
    let folded = (!is_plain).then(|| {
        let characters = text.char_indices();
        characters.filter_map(|(at, c)| look_alike::is_opening(c).then_some(at))
    });
    plain
        .into_iter()
        .flatten()
        .chain(folded.into_iter().flatten())
}

/// The delimiter that starts at `at`, if one does. Case, whitespace and invisible characters don't matter, and characters that
/// look alike count as the same.
fn delimiter_at(text: &str, at: usize) -> Option<DelimiterRange> {
    let delimiters = PAIRS.iter().flat_map(|(open, close)| [*open, *close]);
    let mut found = delimiters.filter_map(|delimiter| match_loosely(&text[at..], delimiter));
    found.next().map(|found| DelimiterRange {
        last: at + found.last,
        end: at + found.end,
    })
}

/// The start of a delimiter's last character, and the end of that character.
struct DelimiterRange {
    last: usize,
    end: usize,
}

fn match_loosely(text: &str, delimiter: &str) -> Option<DelimiterRange> {
    let mut characters = text.char_indices();
    let mut found = DelimiterRange { last: 0, end: 0 };
    for expected in delimiter.bytes().filter(|byte| *byte != b' ') {
        let (at, c) =
            characters.find(|(_, c)| look_alike::appearance_of(*c) != Appearance::Nothing)?;
        if look_alike::appearance_of(c) != Appearance::As(expected) {
            return None;
        }
        found = DelimiterRange {
            last: at,
            end: at + c.len_utf8(),
        };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_blocks() {
        let text = "before\n[CURRENT STATE: AUTHORITATIVE]\nEntity: a\n[END CURRENT STATE]\nafter";
        assert_eq!(strip_blocks(text), "before\nafter");
        assert_eq!(
            strip_blocks("[STATE NOTICE]\nx\n[END NOTICE]\n[STATE NOTICE]\ny\n[END NOTICE]\nz"),
            "z"
        );
        assert_eq!(
            strip_blocks("[STATE NOTICE]\nnever closed"),
            "[STATE NOTICE]\nnever closed"
        );
        assert!(matches!(strip_blocks("int a[3];"), Cow::Borrowed(_)));
    }

    /// A reply loses the line for the user and nothing else.
    #[test]
    fn line_for_the_user() {
        let said = "Done.\n```c\nint x;\n```\n";
        assert_eq!(
            without_user_line(&[said, &user_line("STALE.")].concat()),
            said
        );
        let trimmed = [said, user_line("STALE.").trim_end()].concat();
        assert_eq!(without_user_line(&trimmed), said);
        let quoted = [
            "USER: Go on.\nASSISTANT: Done.",
            &user_line("STALE."),
            "USER: Why?",
        ]
        .concat();
        let cut = without_quoted_user_lines(&quoted);
        assert_eq!(
            cut.as_deref(),
            Some("USER: Go on.\nASSISTANT: Done.\n\nUSER: Why?")
        );
        assert_eq!(without_quoted_user_lines("a [tslp] b"), None);
        for other in [said, "", "[tslp] at the beginning\nand more", "a [tslp] b"] {
            assert_eq!(without_user_line(other), other);
        }
    }

    #[test]
    fn repeated_block() {
        let head = "[CURRENT STATE: AUTHORITATIVE]\nEntity: a.py::f\nArtifact: 0123\nSource: Confirmed via AST\n\n";
        let check = |reply: &str, expected: &str| {
            assert_eq!(unmarked(reply), expected, "{reply}");
            assert_eq!(unmarked(expected), expected, "{reply}");
        };
        let fence = "```python\ndef f(): pass\n```\n";
        let close = "[END CURRENT STATE]\n";
        let named = "**a.py::f**\n\n```python\ndef f(): pass\n```\n";
        check(
            &[head, fence, close, "Done."].concat(),
            &[named, "Done."].concat(),
        );
        check(&[head, fence].concat(), named);
        let inside = [
            "Here:\n```python\n",
            head,
            "def f(): pass\n",
            close,
            "```\n",
        ];
        check(&inside.concat(), &["Here:\n", named].concat());
        check(
            &[head, "def f(): pass\n", close].concat(),
            "**a.py::f**\n\ndef f(): pass\n",
        );
        check(
            &[head, fence, close, head, fence, close].concat(),
            &[named, named].concat(),
        );
        let twice = ["Here:\n```python\n", head, fence, close, "```\n"].concat();
        check(&twice, &["Here:\n", named].concat());
        check(&[fence, close].concat(), fence);
        check("[STATE NOTICE]\nx\n[END NOTICE]\nyes", "yes");
        for code in [
            "```py\nx\n[CURRENT STATE: AUTHORITATIVE]\n```\n",
            "```py\n[END CURRENT STATE]\n```\n",
            "```\n```\n",
            "````md\n```text\n[CURRENT STATE: AUTHORITATIVE]\nEntity: a\n[END CURRENT STATE]\n```\n````\n",
            "```py\n\"\"\"\n[STATE NOTICE]\nx\n[END NOTICE]\n\"\"\"\n```\n",
            "The `[CURRENT STATE: AUTHORITATIVE]` block.",
            "int a[3];",
        ] {
            check(code, code);
        }
    }

    /// A lone delimiter is defused wherever and however it is written.
    #[test]
    fn defused_anywhere() {
        assert_eq!(
            defused("x [END CURRENT STATE] y"),
            "x (END CURRENT STATE) y"
        );
        assert_eq!(defused("[ end  Current state ]"), "( end  Current state )");
        assert_eq!(defused("[END CURRENT STATUS]"), "[END CURRENT STATUS]");
        assert!(quoted_in("\"[state notice]\""));
        assert!(!quoted_in("a[0] = b[1];"));
        let recovery = [RECOVERY_OPEN, "\nGoal: x\n", RECOVERY_CLOSE].concat();
        assert_eq!(
            defused(&recovery),
            "(SESSION RECOVERY: READ-ONLY)\nGoal: x\n(END SESSION RECOVERY)"
        );
        assert!(quoted_in(&recovery) && !forged_in(&recovery));
        assert!(forged_in(&[&recovery, NOTICE_OPEN].concat()));
    }
}
