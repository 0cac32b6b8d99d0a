//! What the steps that compose a prompt know of it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cell::RefCell;

use crate::prompt::mention::Mentions;
use crate::prompt::text_index::TextIndex;
use crate::scope::off::OffKnowledge;
use tslp_core::entity::EntityId;
use tslp_core::event::{ContextCut, History, Withheld};
use tslp_core::extract::Grammars;
use tslp_core::hash::MessageKey;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::request::Request;

/// What composing needs to know of the prompt.
pub struct Prompt<'r> {
    /// The request.
    pub request: &'r Request,
    /// How each of its messages is recognised when it is sent again; `None` of system messages.
    pub keys: &'r [Option<MessageKey>],
    /// Messages of the conversation before the first one of `request`; nonzero only on replay.
    pub omitted_prefix: u32,
    /// How many messages, system messages left out, were in the session's conversation before.
    pub known_length: u32,
    /// Its episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// How older messages are treated.
    pub history: History,
    /// The settings that decisions read.
    pub policy: &'r Policy,
    /// What the current prompt names.
    pub mentions: &'r Mentions,
    /// Whether the user's message holds code for which nothing names a file.
    pub has_pathless_code: bool,
    /// What is on record of the whole request, where `request` doesn't hold all messages that went along.
    pub on_record: Option<&'r RecordedSight>,
    /// What is known of the files that the user turned off.
    pub off: &'r OffKnowledge,
    /// The parsers.
    pub grammars: &'r dyn Grammars,
    /// What was learnt of texts that prompts carry again and again.
    pub index: &'r RefCell<TextIndex>,
}

/// Replay only: facts from messages that the ledger doesn't store.
#[derive(Clone, Debug, Default)]
pub struct RecordedSight {
    /// Entities that the conversation showed as they are true.
    pub in_sight: BTreeSet<EntityId>,
    /// Versions that were withheld for the first time.
    pub withheld: Vec<Withheld>,
    /// What notices were about: whether a message shows the model's own edit isn't on record otherwise.
    pub noticed: Vec<(Reason, Option<EntityId>)>,
    /// Files that the user turned off and that messages showed.
    pub off: BTreeSet<RelPath>,
    /// Where the conversation was cleared.
    pub cut: Option<ContextCut>,
    /// True if no message was unsent.
    pub nothing_new: bool,
}

impl RecordedSight {
    /// Whether a notice was about the entity or all of its file.
    pub(crate) fn has_noticed(&self, entity: &EntityId, is_meant: impl Fn(Reason) -> bool) -> bool {
        let noticed = self.noticed.iter();
        let mut noticed = noticed.filter_map(|(reason, about)| Some((reason, about.as_ref()?)));
        noticed.any(|(reason, about)| {
            let is_of_file = about.symbol.is_none() && about.path == entity.path;
            is_meant(*reason) && (about == entity || is_of_file)
        })
    }
}
