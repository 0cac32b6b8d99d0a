//! The rows of sessions.

use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::words;

use core::ops::Deref;

use super::Session;

row! {
    /// `sessions`: conversations that can be continued, each as a whole.
    pub struct SessionRow in table "sessions", version 10;
    key {
        /// The session.
        session: SessionId,
    }
    values {
        /// All that is known of it.
        state: Session,
    }
}

impl Deref for SessionRow {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.state
    }
}

row! {
    /// `session_index`: the properties by which sessions are recognised.
    pub struct SessionIndexRow in table "session_index", version 1;
    key {
        /// The property.
        sign: LookupKind,
        /// Its value's hash.
        hash: [u8; 32],
    }
    values {
        /// The session.
        session: SessionId,
        /// The number of messages up to a point; 0 for other properties.
        messages: u32,
    }
}

words! {
    /// A property by which a session is recognised, in the order of their words.
    LookupKind, "property of a session" {
        /// Its name.
        Name = "name",
        /// The conversation after one of its last replies.
        Point = "point",
        /// The conversation up to its last prompt.
        Prompt = "prompt",
        /// Its last reply.
        Reply = "reply",
        /// Its last exchange.
        Tail = "tail",
    }
}

row! {
    /// `session_episodes`: the session of each episode whose reply may still come.
    pub struct SessionEpisodeRow in table "session_episodes", version 1;
    key {
        /// The episode.
        episode: EpisodeId,
    }
    values {
        /// Its session.
        session: SessionId,
    }
}

row! {
    /// `replies_under_way`: prompts that were sent and whose reply hasn't ended.
    pub struct UnderWayRow in table "replies_under_way", version 1;
    key {
        /// The prompt's episode.
        episode: EpisodeId,
    }
    values {
        /// Attempts whose reply hasn't ended.
        attempts: u32,
    }
}

crate::word_cells!(LookupKind);
crate::stored_cells!(Session);
