//! Side requests, which belong to no conversation: clients ask the model for titles, tags and summaries of it.

use alloc::string::String;

use tslp_core::capture;
use tslp_core::message::Role;
use tslp_core::request::Request;
use tslp_core::word_list;

/// How such requests begin, as data.
const BEGINNINGS: &str = include_str!("side_requests.txt");

/// Whether a request is its client's own and none of the user's, by how a part of its system message or of its last user
/// message begins.
#[must_use]
pub fn is_side_request(request: &Request) -> bool {
    let mut messages = request.messages.iter();
    let system = messages.find(|message| message.role == Role::System);
    let mut messages = request.messages.iter();
    let last_user = messages.rfind(|message| message.role == Role::User);
    let asks = |part: &String| capture::asks_about_a_conversation(part);
    let parts = system.iter().chain(&last_user).flat_map(|it| &it.parts);
    let mut parts = parts.map(String::as_str);
    let said = last_user.and_then(|message| message.parts.first());
    parts.any(begins_as_known) || said.is_some_and(asks)
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
    use alloc::sync::Arc;
    use alloc::vec::Vec;
    use tslp_core::message::{Attempt, Message, Tools};
    use tslp_core::read_message::ReadMessage;

    fn request(messages: Vec<Arc<ReadMessage>>) -> Request {
        Request {
            model: String::new(),
            messages,
            session_name: None,
            continues: None,
            attempt: Attempt::First,
            tools: Tools::None,
        }
    }

    fn check(messages: &[(Role, &str)], expected: bool) {
        let messages = messages.iter();
        let messages = messages.map(|(role, text)| Message::new(*role, text).into());
        let request = request(messages.collect());
        assert_eq!(is_side_request(&request), expected, "{request:?}");
    }

    /// Requests for titles, tags and summaries are side requests.
    #[test]
    fn service_prompts() {
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
        let mut system = Message::new(Role::System, "x-anthropic-billing-header: cc_version=2;");
        let title = "Generate a concise, sentence-case title (3-7 words) that captures the goal.";
        system.parts.push(title.into());
        let user = Message::new(Role::User, "<session>\nfix add()\n</session>");
        assert!(is_side_request(&request(Vec::from([
            system.into(),
            user.into()
        ]))));
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
