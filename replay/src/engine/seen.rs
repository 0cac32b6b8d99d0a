//! The texts that a model saw before it wrote a reply: a reply can replace only code that the model saw (spec §12).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use tslp_core::artifact::Origin;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, History};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::outgoing::Outgoing;
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_decide::prompt::sight;

use super::Engine;
use crate::trace::RecordedStep;
use tslp_projections::state::StateView;
use tslp_projections::store::Store;

/// The texts of a prompt as it went to the model.
#[derive(Clone, Debug)]
pub(super) struct SentTexts {
    session: SessionId,
    history: History,
    texts: Vec<SentText>,
}

/// One text of a sent prompt.
#[derive(Clone, Debug)]
enum SentText {
    /// Only the hash, because the Vault holds the text: a long conversation would cost memory for as long as a reply takes.
    Stored(ArtifactHash),
    /// Held here, since the Vault has it in no single piece.
    Own(String),
}

/// Texts up to this length are kept themselves: it takes longer to ask whether the Vault holds one.
const OWN_TEXT_BYTES: usize = 256;

impl SentTexts {
    /// The texts of an outgoing prompt. The state must have folded the prompt's own events.
    pub(super) fn of(
        view: &StateView<'_>,
        session: SessionId,
        history: History,
        request: &Request,
        outgoing: &Outgoing,
    ) -> Self {
        let mut sent = Self::without_texts(session, history);
        sent.add_text(view, outgoing.system.as_deref().unwrap_or_default());
        for going in &outgoing.messages {
            let message = &request.messages[going.index];
            sent.add_text(view, &going.before);
            if going.rewritten.is_empty() && going.arguments.is_empty() {
                sent.add_message(view, message);
            } else {
                // What is withheld from a message isn't seen there.
                let arguments = message.tool_calls.iter().map(|call| &call.arguments);
                sent.add_changed(view, message.parts.iter(), &going.rewritten);
                sent.add_changed(view, arguments, &going.arguments);
            }
            sent.add_text(view, &going.after);
        }
        sent
    }

    const fn without_texts(session: SessionId, history: History) -> Self {
        Self {
            session,
            history,
            texts: Vec::new(),
        }
    }

    fn add_message(&mut self, view: &StateView<'_>, message: &ReadMessage) {
        self.add(view, message.content(), message.recorded());
        let arguments = message.tool_calls.iter().map(|call| &call.arguments);
        let first = message.text_hashes().len() - message.tool_calls.len();
        for (hash, text) in message.text_hashes()[first..].iter().zip(arguments) {
            self.add(view, *hash, text);
        }
    }

    fn add_changed<'t>(
        &mut self,
        view: &StateView<'_>,
        texts: impl Iterator<Item = &'t String>,
        changed: &[(usize, String)],
    ) {
        for (at, text) in texts.enumerate() {
            let new = changed.iter().find(|(index, _)| *index == at);
            self.add_text(view, new.map_or(text, |(_, new)| new));
        }
    }

    fn add_text(&mut self, view: &StateView<'_>, text: &str) {
        if !text.is_empty() {
            self.add(view, ArtifactHash::of(text.as_bytes()), text);
        }
    }

    fn add(&mut self, view: &StateView<'_>, hash: ArtifactHash, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_long = text.len() > OWN_TEXT_BYTES;
        self.texts.push(if is_long && view.vault_holds(hash) {
            SentText::Stored(hash)
        } else {
            SentText::Own(text.into())
        });
    }

    fn load(&self, view: &StateView<'_>) -> Vec<(ArtifactHash, String)> {
        let load = |text: &SentText| match text {
            SentText::Stored(hash) => Some((*hash, view.text(*hash)?)),
            SentText::Own(text) => Some((ArtifactHash::of(text.as_bytes()), text.clone())),
        };
        // A text that can't be read any more doesn't count as seen: then a reply that relies on it is refused.
        self.texts.iter().filter_map(load).collect()
    }
}

/// The evidence of what a model saw before its reply.
pub(super) enum ModelSight {
    /// The texts of its prompt; `None` if another process composed the prompt, so nothing counts as seen.
    Sent(Option<SentTexts>, OnceCell<Vec<(ArtifactHash, String)>>),
    /// In a retraced step: the entities refused as unseen. The record doesn't say which messages were sent.
    UnseenOnRecord(BTreeSet<EntityId>),
}

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Copies what is kept of prompts whose reply is under way. `other` is an engine on the same ledger.
    pub fn take_over(&mut self, other: &Self) {
        self.sent.clone_from(&other.sent);
    }

    /// Keeps which texts went to the model until its reply is judged: what it hadn't seen it can't replace. To be called once
    /// for each composed prompt of a conversation, when it has gone.
    pub fn keep_sent(
        &mut self,
        episode: EpisodeId,
        (session, history): (SessionId, History),
        request: &Request,
        outgoing: &Outgoing,
    ) {
        let sent = SentTexts::of(&self.view(), session, history, request, outgoing);
        self.sent.insert(episode, sent);
    }

    /// Whether what went to the model for its reply shows each line of a text.
    pub(super) fn saw_lines(&self, episode: EpisodeId, text: &str) -> bool {
        let sent = self.sent.get(&episode).map(|sent| sent.load(&self.view()));
        let shows = |sent: &str| text.lines().all(|line| sent.contains(line.trim()));
        sent.iter().flatten().any(|(_, sent)| shows(sent))
    }

    /// The evidence for a reply to `sent`; while a ledger is retraced, that on record.
    pub(super) fn model_sight(&self, sent: Option<SentTexts>) -> ModelSight {
        match &self.trace {
            Some(trace) => ModelSight::UnseenOnRecord(unseen_on_record(trace)),
            None => ModelSight::Sent(sent, OnceCell::new()),
        }
    }

    /// The entities whose true version the model saw, or wrote itself.
    pub(super) fn entities_seen(
        &self,
        seen: &ModelSight,
        entities: &[EntityId],
    ) -> BTreeSet<EntityId> {
        let view = self.view();
        let (sent, texts) = match seen {
            ModelSight::Sent(Some(sent), texts) => (sent, texts.get_or_init(|| sent.load(&view))),
            ModelSight::Sent(None, _) => return BTreeSet::new(),
            ModelSight::UnseenOnRecord(unseen) => {
                let seen = entities.iter().filter(|entity| !unseen.contains(entity));
                return seen.cloned().collect();
            }
        };
        let mut index = self.index.borrow_mut();
        let mut shown = sight::shown_as_true(&view, sent.session, &mut index, entities, texts);
        // The result of an edit occurs in no message as a whole; but if the client's history goes along, the model sees its own
        // edit in it.
        let is_own = |entity: &&EntityId| {
            view.current_version(entity).is_some_and(|current| {
                current.origin == Origin::Model
                    && view
                        .state
                        .sessions()
                        .reply_position(sent.session, current.episode)
                        .is_some()
            })
        };
        if sent.history == History::Client {
            shown.extend(entities.iter().filter(is_own).cloned());
        }
        shown
    }
}

/// The prompts whose reply is under way, by their episodes.
pub(super) type SentPrompts = BTreeMap<EpisodeId, SentTexts>;

/// The entities of a step on record that were kept out because of their base.
fn unseen_on_record(trace: &RecordedStep) -> BTreeSet<EntityId> {
    let refused = trace
        .queue
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::PromotionRefused(refused) => Some(refused),
            _ => None,
        });
    let is_moved = |rule: Reason, met: bool| rule == Reason::BaseUnmoved && !met;
    let unseen = refused.filter(|refused| {
        let mut verdicts = refused.report.verdicts.iter();
        verdicts.any(|verdict| is_moved(verdict.rule, verdict.met))
    });
    unseen.map(|refused| refused.entity.clone()).collect()
}
