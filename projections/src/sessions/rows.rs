//! The rows of sessions.

use alloc::string::String;

use tslp_core::entity::EntityId;
use tslp_core::event::{Injected, Side, Withheld};
use tslp_core::hash::{ArtifactHash, MessageKey, TranscriptHash};
use tslp_core::ids::{EpisodeId, Seq, SessionId, VersionId};
use tslp_core::words;

use crate::table::Text;

row! {
    /// `sessions`: conversations that can be continued.
    pub struct SessionRow in table "sessions", version 9;
    key {
        /// The session.
        session: SessionId,
    }
    values {
        /// The name that its client gave it.
        name: Option<String>,
        /// Messages after the last completed reply.
        messages: u32,
        /// The last episode.
        last_episode: EpisodeId,
        /// The first episode of the user's last turn.
        turn: EpisodeId,
        /// The event that composed its prompt.
        turn_composed: Seq,
        /// The first episode of the turn before.
        turn_before: EpisodeId,
        /// The event that composed its prompt.
        turn_before_composed: Seq,
        /// The whole conversation after the last completed reply.
        head: Option<TranscriptHash>,
        /// The last exchange.
        tail: Option<TranscriptHash>,
        /// The last reply.
        reply: Option<MessageKey>,
        /// The conversation up to the last prompt.
        prompt: Option<TranscriptHash>,
        /// The number of its messages.
        prompt_messages: Option<u32>,
        /// The last prompt's system messages, in the Vault.
        system: Option<ArtifactHash>,
        /// The episode of a prompt that has no complete reply, which the next five are about as well.
        open: Option<EpisodeId>,
        /// The conversation up to it.
        open_transcript: Option<TranscriptHash>,
        /// The number of messages up to it.
        open_messages: Option<u32>,
        /// Its last user message.
        open_user: Option<MessageKey>,
        /// Whether a reply is under way.
        in_flight: Option<bool>,
        /// Whether it ends with a tool's result.
        in_tool_chain: Option<bool>,
        /// The event that composed the last prompt.
        composed_seq: Seq,
        /// Whether a call of the model's opened it.
        is_subagent: bool,
    }
}

row! {
    /// `session_entities`: the entities that a session's prompts have shown.
    pub struct SessionEntityRow in table "session_entities", version 1;
    key {
        /// The session.
        session: SessionId,
        /// The entity.
        entity: EntityId,
    }
    values {
        /// The version that was shown last.
        version: VersionId,
        /// The event that composed the prompt that showed it.
        shown_seq: Seq,
        /// Its place in the order of first showing, which only the first ones have.
        position: Option<u32>,
    }
}

row! {
    /// `recent_context`: each session's last exchanges, oldest first. A row with the speaker `exchange` begins each of them.
    pub struct RecentContextRow in table "recent_context", version 2;
    key {
        /// The session.
        session: SessionId,
        /// The row's place.
        position: u64,
    }
    values {
        /// What the row holds.
        speaker: Speaker,
        /// The text in the Vault; none for an exchange.
        content: Option<ArtifactHash>,
        /// The number of messages up to the end of an exchange.
        messages: Option<u32>,
    }
}

words! {
    /// What a row of `recent_context` holds.
    Speaker, "speaker" {
        /// The beginning of an exchange.
        Exchange = "exchange",
        /// A text of the user's.
        User = "user",
        /// A piece of the reply.
        Assistant = "assistant",
    }
}

row! {
    /// `session_parts`: the lists of a session, one row for each item.
    ///
    /// | part | position | hash | text | number | word |
    /// |---|---|---|---|---|---|
    /// | `ancestor`: a session whose history it shares, `until` an episode | in the list | | | the session | |
    /// | `injected`: a text injected into its messages | its number | the message | in the Vault | messages up to it | the side |
    /// | `notice`: a notice that the model hasn't been given | in the list | | | the episode | the reason |
    /// | `notice_other`: the other entity of a notice | the notice's | | | | |
    /// | `notice_shown`: a notice that the open prompt shows | the notice's | | | | |
    /// | `open_user`: the texts of the open prompt | in the list | | in the Vault | | |
    /// | `point`: the conversation after one of its last replies | the episode | the conversation | | messages | |
    /// | `refused`: a file that a reply was refused for last | | | | the episode | |
    /// | `withheld`: code withheld from its messages | its number | the slice | | messages up to it | |
    pub struct SessionPartRow in table "session_parts", version 3;
    key {
        /// The session.
        session: SessionId,
        /// The list.
        part: SessionList,
        /// See the table.
        position: u64,
        /// The entity that the item is about, if it is about one.
        entity: Option<EntityId>,
    }
    values {
        /// See the table.
        hash: Option<[u8; 32]>,
        /// See the table.
        text: Option<ArtifactHash>,
        /// See the table.
        number: Option<u64>,
        /// The last shared episode of an ancestor.
        until: Option<EpisodeId>,
        /// See the table.
        word: Option<Text>,
    }
}

words! {
    /// The lists of a session in `session_parts`, in the order of their words.
    SessionList, "list of a session" {
        /// Sessions whose history it shares.
        Ancestor = "ancestor",
        /// How its context was cleared: 0 if it is to be, 1 where it begins, 2 by which event, with the last reply before.
        Clear = "clear",
        /// Texts injected into its messages.
        Injected = "injected",
        /// Notices that the model hasn't been given.
        Notice = "notice",
        /// Their other entities.
        NoticeOther = "notice_other",
        /// Those of them that the open prompt shows.
        NoticeShown = "notice_shown",
        /// The texts of the open prompt.
        OpenUser = "open_user",
        /// The conversation after its last replies.
        Point = "point",
        /// Files that its last refused reply was refused for.
        Refused = "refused",
        /// Code withheld from its messages.
        Withheld = "withheld",
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

crate::word_cells!(Speaker, SessionList, LookupKind);

impl SessionPartRow {
    /// An item without values.
    pub(super) const fn item(session: SessionId, part: SessionList, position: u64) -> Self {
        Self {
            session,
            part,
            position,
            entity: None,
            hash: None,
            text: None,
            number: None,
            until: None,
            word: None,
        }
    }

    pub(super) fn injected(session: SessionId, number: u64, injected: &Injected) -> Self {
        let Injected {
            message,
            position,
            side,
            text,
        } = injected;
        Self {
            hash: Some(message.0),
            text: Some(*text),
            number: Some((*position).into()),
            word: Some(side.as_str().into()),
            ..Self::item(session, SessionList::Injected, number)
        }
    }

    pub(super) fn point(
        session: SessionId,
        episode: EpisodeId,
        transcript: TranscriptHash,
        messages: u32,
    ) -> Self {
        Self {
            hash: Some(transcript.0),
            number: Some(messages.into()),
            ..Self::item(session, SessionList::Point, episode.0)
        }
    }

    pub(super) fn withheld(session: SessionId, number: u64, withheld: &Withheld) -> Self {
        Self {
            entity: Some(withheld.entity.clone()),
            hash: Some(withheld.slice.0),
            number: Some(withheld.position.into()),
            ..Self::item(session, SessionList::Withheld, number)
        }
    }

    pub(super) fn side(&self) -> Option<Side> {
        Side::of_word(self.word.as_deref()?)
    }
}
