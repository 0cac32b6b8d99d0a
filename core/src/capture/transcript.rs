//! Conversations that a client quotes in one message, for a task of its own: a summary, a title (aider, Open WebUI,
//! LibreChat, LobeChat, OpenCode).

use super::vocabulary::CONVERSATION_MARKS;

/// The first bytes of a message in which its client states the task.
const TASK_BYTES_MAX: usize = 240;

/// Whether a message quotes a conversation instead of being part of one: code in it is neither the user's nor new.
#[must_use]
pub fn quotes_a_conversation(text: &str) -> bool {
    asks_about_a_conversation(text) || has_turns(text)
}

/// Whether a message can only be a client's own task about a conversation.
#[must_use]
pub fn asks_about_a_conversation(text: &str) -> bool {
    CONVERSATION_MARKS.iter().any(|mark| text.contains(mark)) || asks_for_a_title(text)
}

/// Whether a user's turn begins on one line and an assistant's on a later one: `# USER`, `**Assistant:**`, `user: hello`.
fn has_turns(text: &str) -> bool {
    let mut speakers = text.lines().filter_map(speaker_of_turn);
    speakers.any(|speaker| speaker == Speaker::User)
        && speakers.any(|speaker| speaker == Speaker::Assistant)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

fn speaker_of_turn(line: &str) -> Option<Speaker> {
    let name = line.trim_start_matches(['#', '*', '[', '<', '|', '>']);
    let is_marked = name.len() < line.len();
    let name = name.trim_start_matches(|c: char| is_marked && c == ' ');
    let end = name.find(|c: char| !c.is_ascii_alphabetic());
    let (name, rest) = name.split_at(end.unwrap_or(name.len()));
    let rest = rest.trim_start_matches(['*', ']', '>']);
    if !(rest.starts_with(':') || is_marked && rest.trim().is_empty()) {
        return None;
    }
    let is_one_of = |names: &[&str]| names.iter().any(|it| name.eq_ignore_ascii_case(it));
    match () {
        () if is_one_of(&["user", "human"]) => Some(Speaker::User),
        () if is_one_of(&["assistant", "ai", "response"]) => Some(Speaker::Assistant),
        () => None,
    }
}

/// `Generate a title for this conversation:`, `header for the following query:`.
fn asks_for_a_title(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let task = first
        .get(..TASK_BYTES_MAX)
        .unwrap_or(first)
        .to_ascii_lowercase();
    let mut asked = ["title for ", "header for ", "name for "]
        .iter()
        .filter_map(|asked| Some(&task[task.find(asked)? + asked.len()..]));
    asked.any(|of| {
        let words = of.split(' ');
        let mut words = words
            .skip_while(|word| ["this", "the", "our", "a", "user", "following"].contains(word));
        // "Title for the chat window" is about a window, not a conversation.
        words.next().is_some_and(|noun| {
            let name = noun.trim_end_matches([':', '.', ',', '"']);
            ["conversation", "chat", "query", "dialogue", "discussion"].contains(&name)
                && (name.len() < noun.len() || words.next().is_none())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_conversations() {
        for quoted in [
            "### Task:\n<chat_history>\nUSER: hello\n</chat_history>",
            "# USER\n\nsrc/a.c\n```c\nint a;\n```\n\n# ASSISTANT\n\nDone.",
            "user: fix it\nassistant: ```c\nint a;\n```",
            "Human: x\n\nAI: y",
            "**User:** x\n**Assistant:** y",
            "[user]: x\n[assistant]: y",
            "||>User:\n\"x\"\n||>Response:\n\"y\"",
            "Generate a title for this conversation:\n\na.c\n```c\nint a;\n```",
            "Provide a concise, 5-word-or-less title for the conversation, using its language.\nx",
            "Write a header for the following query:\n\nx",
        ] {
            assert!(quotes_a_conversation(quoted), "{quoted}");
        }
    }

    #[test]
    fn words_of_the_users() {
        for said in [
            "",
            "user: postgres\nhost: db",
            "Why does the assistant: say so? user: none",
            "assistant: before\nuser: after",
            "class Turn:\n    user: str\n    assistant: str",
            "# User\n\nWhat is this heading for?",
            "Users: x\nAssistants: y",
            "Add a title for the chat window.\na.c\n```c\nint a;\n```",
            "Find a better name for a\nvariable",
        ] {
            assert!(!quotes_a_conversation(said), "{said}");
        }
    }
}
