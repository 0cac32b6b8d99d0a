//! Parts of a user's message that the user didn't type, by the message's own form: elements that a client wraps around text from
//! elsewhere, results below a tool's heading, summaries of a conversation.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Range;

use super::line::{line_at, lines_from};
use super::quoted::ResultHeading;
use super::vocabulary::{
    AFTER_RESULT_TAGS, ASKING_WORDS, ATTACHED_FILE_TAGS, CONVERSATION_WORDS, FENCE_TAGS, FILE_TAGS,
    REMINDER_TAGS, SUMMARY_BEGINNINGS, SUMMARY_WORDS, USERS_TAGS, WRITTEN_FILE_TAGS,
};

/// A part of a message that somebody else said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPart {
    /// Where.
    pub range: Range<usize>,
    /// Whether it is a file or code that the user attached: its directives are nobody's, its code is supplied.
    pub is_attachment: bool,
}

/// All such parts, in order.
#[must_use]
pub fn foreign_parts(text: &str) -> Vec<ForeignPart> {
    let mut found = Vec::new();
    let mut closers = None;
    // Code's own elements are code.
    let mut code = blocks_of_code(text).into_iter().peekable();
    let mut at = 0;
    let mut lines_said = 0;
    while at < text.len() {
        let line = line_at(text, at);
        while code.next_if(|block| block.end <= at).is_some() {}
        if let Some(block) = code.next_if(|block| block.contains(&at)) {
            at = block.end.max(line.end);
            continue;
        }
        let said = text[line.clone()].trim();
        at = line.end;
        if said.is_empty() {
            continue;
        }
        let part = if is_summary(said, lines_said) {
            Some(ForeignPart {
                range: line.start..text.len(),
                is_attachment: false,
            })
        } else if ResultHeading::of(said).is_some() {
            Some(ForeignPart {
                range: line.start..end_of_result(text, line.end),
                is_attachment: false,
            })
        } else if said.contains('<') {
            let closers = closers.get_or_insert_with(|| closing_tags(text));
            element_opened(text, &line, closers)
        } else {
            None
        };
        lines_said += 1;
        if let Some(part) = part {
            at = part.range.end.max(line.end);
            found.push(part);
        }
    }
    found
}

/// Whether a line is a tag alone that a client puts around the user's own words.
#[must_use]
pub fn is_users_tag(line: &str) -> bool {
    let tag = line.trim().strip_prefix('<');
    let name = tag.and_then(|tag| tag.trim_start_matches('/').strip_suffix('>'));
    name.is_some_and(|name| USERS_TAGS.contains(&name))
}

/// The blocks that no tag and no heading opens.
fn blocks_of_code(text: &str) -> Vec<Range<usize>> {
    if !text.contains(['<', '[']) {
        return Vec::new();
    }
    let blocks = super::blocks(text).into_iter().map(|block| block.outer);
    blocks
        .filter(|outer| !text[outer.clone()].trim_start().starts_with(['<', '[']))
        .collect()
}

/// The positions of all closing tags, by name.
fn closing_tags(text: &str) -> BTreeMap<&str, Vec<usize>> {
    let mut closers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"</") {
        let name = tag_name(&text[at + 2..]);
        if !name.is_empty() {
            closers.entry(name).or_default().push(at);
        }
    }
    closers
}

/// The name that a tag's text begins with; empty if it isn't one.
pub(super) fn tag_name(inside: &str) -> &str {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let end = inside.find(|c| !is_of_name(c)).unwrap_or(inside.len());
    let name = &inside[..end];
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        ""
    }
}

/// The element that a line opens and a later line closes. It ends with the last closing tag of its name, because text from
/// elsewhere may hold one; only clients' own reminders, between which users speak, end with the first.
fn element_opened(
    text: &str,
    line: &Range<usize>,
    closers: &BTreeMap<&str, Vec<usize>>,
) -> Option<ForeignPart> {
    let openers = text[line.clone()].match_indices('<');
    openers.into_iter().find_map(|(at, _)| {
        let start = line.start + at;
        let name = tag_name(&text[start + 1..]);
        if name.is_empty() || USERS_TAGS.contains(&name) {
            return None;
        }
        let ends = closers.get(name)?;
        let close = if REMINDER_TAGS.contains(&name) {
            let next = ends.partition_point(|end| *end <= start);
            *ends.get(next)?
        } else {
            *ends.last()?
        };
        let files = [ATTACHED_FILE_TAGS, WRITTEN_FILE_TAGS, FILE_TAGS, FENCE_TAGS];
        let tag = text[start..line.end].split('>').next();
        // What comes from an address is no file of the user's.
        let is_remote = tag.is_some_and(|tag| tag.contains("://"));
        (close >= line.end).then(|| ForeignPart {
            range: start..line_at(text, close).end,
            is_attachment: !is_remote && files.iter().any(|names| names.contains(&name)),
        })
    })
}

/// Where a result ends: at a tag of the user's own words.
fn end_of_result(text: &str, from: usize) -> usize {
    let is_after =
        |line: &str| (AFTER_RESULT_TAGS.iter()).any(|tag| line.trim_start().starts_with(tag));
    let mut lines = lines_from(text, from);
    lines
        .find(|(_, line)| is_after(line))
        .map_or(text.len(), |(at, _)| at)
}

/// Lines in front of which a message may say in words of its own that it is a summary.
const SUMMARY_LINES: usize = 3;

/// Whether a line says that what follows is a summary of a conversation, or an agent's orders to another one.
fn is_summary(line: &str, lines_before: usize) -> bool {
    let said = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |beginning: &&str| {
        said.get(..beginning.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    SUMMARY_BEGINNINGS.iter().any(begins) || lines_before < SUMMARY_LINES && heads_a_summary(said)
}

/// Whether a message begins with a summary of a conversation, which its client has put in the place of that.
#[must_use]
pub fn begins_with_summary(text: &str) -> bool {
    let said = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut beginnings = said.take(SUMMARY_LINES).enumerate();
    beginnings.any(|(lines_before, line)| is_summary(line, lines_before))
}

/// `Summary of the conversation so far:`, `# Zusammenfassung des Gesprächs`: a heading that speaks of both, and asks for nothing.
fn heads_a_summary(line: &str) -> bool {
    fn words_of(line: &str) -> impl Iterator<Item = &str> {
        let words = line.split(|c: char| !c.is_alphabetic());
        words.filter(|word| !word.is_empty())
    }
    // Before a long line is copied.
    let may_head = line.ends_with([':', '：']) || words_of(line).nth(HEADING_WORDS_MAX).is_none();
    let mut threes = line.as_bytes().windows(3);
    if !may_head && !threes.any(|it| it.eq_ignore_ascii_case(b"sub")) {
        return false;
    }
    let line = line.to_lowercase();
    let words = || words_of(&line);
    let speaks_of =
        |beginnings: &[&str]| words().any(|word| beginnings.iter().any(|it| begins_word(word, it)));
    let has = |names: &[&str]| words().any(|word| names.contains(&word));
    let ends_sentence = line.ends_with(['.', '!', '?', '。', '！', '？']);
    let is_heading =
        line.ends_with([':', '：']) || words().count() <= HEADING_WORDS_MAX && !ends_sentence;
    let asks = has(ASKING_WORDS);
    let is_agents = has(&["subagent", "subtask"]) || line.contains("sub-agent");
    is_heading && speaks_of(SUMMARY_WORDS) && speaks_of(CONVERSATION_WORDS) && !asks
        || is_agents && has(&["you", "your", "orchestrator"])
}

/// Most words of a heading without a colon.
const HEADING_WORDS_MAX: usize = 8;

/// Whether a word begins so. Chinese and Japanese put no spaces between words.
fn begins_word(word: &str, beginning: &str) -> bool {
    word.starts_with(beginning) || !beginning.is_ascii() && word.contains(beginning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn check(text: &str, expected: &[&str]) {
        let parts = foreign_parts(text);
        let found: Vec<&str> = parts.iter().map(|part| &text[part.range.clone()]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn quoted_elements() {
        check(
            "<task>\nfix it\n</task>\n\n<url_content url=\"https://x\">\na\n</url_content>\nb\n</url_content>\n",
            &["<url_content url=\"https://x\">\na\n</url_content>\nb\n</url_content>\n"],
        );
        check(
            "<system-reminder>\na\n</system-reminder>\nfix it\n<system-reminder>\nb\n</system-reminder>",
            &[
                "<system-reminder>\na\n</system-reminder>\n",
                "<system-reminder>\nb\n</system-reminder>",
            ],
        );
        check("It says <out>x\ny\n</out>", &["<out>x\ny\n</out>"]);
        check("Why is Vec<T> slow?\n<br>\n<p>a</p>\n", &[]);
    }

    #[test]
    fn results_and_summaries() {
        check(
            "[new_task completed] Result: Done.\nx\n<feedback>\nNo.\n</feedback>",
            &["[new_task completed] Result: Done.\nx\n"],
        );
        check(
            "[ask_followup_question for 'q'] Result:\n<answer>\nx\n</answer>",
            &[],
        );
        for heading in [
            "This session is being continued from a previous conversation that ran out of context.",
            "Another language model started to solve this problem and produced a summary",
            "Here is a summary of our conversation so far:",
            "# Conversation Summary",
            "# Zusammenfassung des bisherigen Gesprächs",
            "Voici le résumé de notre conversation :",
            "Resumen de la conversación anterior:",
            "Resumo da conversa até agora:",
            "Riassunto della conversazione precedente:",
            "以下是之前对话的总结：",
            "これまでの会話の要約：",
            "Краткое изложение предыдущего разговора:",
            "You are a subagent. Report to the orchestrator.",
        ] {
            let text = format!("{heading}\nx\ny");
            check(&text, &[&text]);
        }
        check("Write a summary of this session:\nx", &[]);
        check("Schreib eine Zusammenfassung dieses Gesprächs:\nx", &[]);
        check("The summary in session.py is wrong.\nx", &[]);
    }
}
