//! Requests beside a conversation: clients ask the model for titles, tags and summaries of it.

use crate::capture;
use crate::message::{Request, Role};
use crate::word_list;

/// How such requests begin, as data.
const BEGINNINGS: &str = include_str!("side_requests.txt");

/// Whether a request is its client's own and none of the user's, by the beginning of its system message or of its last
/// user message.
#[must_use]
pub fn is_side_request(request: &Request) -> bool {
    let mut messages = request.messages.iter();
    let system = messages.find(|message| message.role == Role::System);
    let mut messages = request.messages.iter();
    let last_user = messages.rfind(|message| message.role == Role::User);
    let system = system.map_or("", |message| message.first_part());
    let said = last_user.map_or("", |message| message.first_part());
    begins_as_known(system) || begins_as_known(said) || capture::asks_about_a_conversation(said)
}

fn begins_as_known<'t>(text: &'t str) -> bool {
    let trimmed = |text: &'t str| text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let text = trimmed(text);
    let text = text.strip_prefix("Task:").map_or(text, trimmed);
    word_list::entries(BEGINNINGS).any(|beginning| {
        text.get(..beginning.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Attempt, Message, Tools};
    use alloc::string::String;

    fn check(messages: &[(Role, &str)], expected: bool) {
        let messages = messages.iter();
        let messages = messages.map(|(role, text)| Message::new(*role, text).into());
        let request = Request {
            model: String::new(),
            messages: messages.collect(),
            session_name: None,
            continues: None,
            attempt: Attempt::First,
            tools: Tools::None,
        };
        assert_eq!(is_side_request(&request), expected, "{request:?}");
    }

    #[test]
    fn titles_tags_and_summaries() {
        for user in [
            "### Task:\nGenerate a concise, 3-5 word title with an emoji",
            "Generate a title for this conversation:\n",
            "*Briefly* summarize this partial conversation about programming.",
        ] {
            check(&[(Role::User, user)], true);
        }
        let title = (
            Role::System,
            "You are a title generator. You output ONLY a thread title.",
        );
        check(&[title, (Role::User, "fix add()")], true);
    }

    #[test]
    fn words_of_the_users() {
        for user in [
            "Generate a title bar for the window",
            "user: x\nassistant: y\nWhat did it mean?",
            "Summarize src/a.c",
            "",
        ] {
            check(
                &[
                    (Role::System, "You are a helpful assistant."),
                    (Role::User, user),
                ],
                false,
            );
        }
    }
}
