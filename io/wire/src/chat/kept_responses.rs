//! The sessions of responses that the model server keeps: a client may name a response in place of the conversation.

use std::collections::{HashMap, VecDeque};

use tslp_core::ids::SessionId;

/// Responses that are remembered; who goes on from an older one begins a session.
const RESPONSES_MAX: usize = 4096;

/// Longest id that is remembered.
const ID_BYTES_MAX: usize = 128;

/// The last responses by their ids (`previous_response_id` of OpenAI's Responses).
#[derive(Debug, Default)]
pub struct KeptResponses {
    sessions: HashMap<String, SessionId>,
    /// The ids, oldest first.
    order: VecDeque<String>,
}

impl KeptResponses {
    /// Remembers a response.
    pub fn keep_response(&mut self, id: &str, session: SessionId) {
        if id.len() > ID_BYTES_MAX {
            return;
        }
        if self.sessions.insert(id.to_owned(), session).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > RESPONSES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
        }
    }

    /// The session of a response.
    #[must_use]
    pub fn session_of(&self, id: &str) -> Option<SessionId> {
        self.sessions.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_ones_kept() {
        let mut kept = KeptResponses::default();
        for number in 0..=RESPONSES_MAX as u64 {
            kept.keep_response(&number.to_string(), SessionId(number));
            kept.keep_response(&number.to_string(), SessionId(number));
        }
        assert_eq!(kept.session_of("0"), None);
        assert_eq!(kept.session_of("1"), Some(SessionId(1)));
        kept.keep_response(&"x".repeat(ID_BYTES_MAX + 1), SessionId(1));
        assert_eq!(kept.order.len(), RESPONSES_MAX);
    }
}
