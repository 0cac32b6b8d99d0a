//! Sessions: the state of each conversation, its recent exchanges (spec §8.4), and its pending notices.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use rkyv::with::AsVec;
use rkyv::{Archive, Deserialize as Load, Serialize as Store};
use tslp_core::artifact::{Level, Origin};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ContextCut, Event, Fork, History, Hydrated, Injected, NoticeIssued, PromptAmended,
    PromptComposed, PromptReceived, Recorded, ReplyEnded, ReplyOutcome, Withheld,
};
use tslp_core::hash::{ArtifactHash, MessageKey, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::limits::{
    HYDRATION_CANDIDATES_MAX, INJECTIONS_PER_SESSION_MAX, NOTICES_WAITING_MAX,
    RECENT_EPISODES_KEPT, RECENT_PAIRS, SESSIONS_KEPT, WITHHELD_PER_SESSION_MAX,
};
use tslp_core::message::Role;
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};

mod answers;

pub use answers::{
    Amendments, Exchange, LastPrompt, OpenPrompt, PendingNotice, PreviousTurn, SessionPoint,
    SessionPosition,
};

use crate::row_map::RowMap;

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

crate::stored_cells!(Session);

impl Deref for SessionRow {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.state
    }
}

/// Most points kept of one session's conversation from which a later prompt may continue.
const POINTS_PER_SESSION: usize = 256;

/// Most entities whose position in the hydration block is kept.
const HYDRATION_ORDER_KEPT: u32 = 64;

/// Most entities that a session remembers having shown: four times as many as one prompt can show.
const ENTITIES_KEPT: usize = 4 * HYDRATION_CANDIDATES_MAX;

const _: () = assert!(
    ENTITIES_KEPT > HYDRATION_ORDER_KEPT as usize,
    "of too many entities one has no position and can be forgotten"
);

/// Most files of refused replies that are looked at again: each costs a look at the disk with every step.
const REFUSED_FILES_MAX: usize = 32;

/// Most sessions kept from which a session's history comes, one fork after another.
const ANCESTORS_KEPT: usize = 64;

/// One conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Store, Load)]
pub struct Session {
    /// The name that its client gave it.
    pub name: Option<String>,
    /// Messages after the last completed reply.
    pub length: u32,
    /// The points of the conversation after its last replies, by their episodes.
    #[rkyv(with = AsVec)]
    pub points: BTreeMap<EpisodeId, ConversationPoint>,
    /// The whole conversation after the last completed reply.
    pub head: Option<TranscriptHash>,
    /// The last exchange.
    pub tail: Option<TranscriptHash>,
    /// The last reply.
    pub reply: Option<MessageKey>,
    /// The conversation up to its last prompt, and its number of messages.
    pub last_prompt: Option<(TranscriptHash, u32)>,
    /// Its system messages, in the Vault.
    pub system: Option<ArtifactHash>,
    /// The prompt without a completed reply.
    pub open: Option<PromptInProgress>,
    /// The last episode.
    pub last_episode: EpisodeId,
    /// The user's last turn: the prompt with their words, and the steps of an agent that follow it.
    pub turn: Turn,
    /// The user's turn before.
    pub turn_before: Turn,
    /// The last exchanges, each with the number of messages after it.
    pub exchanges: VecDeque<(Exchange, u32)>,
    /// The entities that its prompts have shown; of too many, the first ones and those shown last.
    #[rkyv(with = AsVec)]
    pub entities: BTreeMap<EntityId, ShownEntity>,
    /// The event that composed its last prompt; a retry composes an episode's prompt again.
    pub composed_seq: Seq,
    /// Notices that the model hasn't been given; those that the open prompt shows are dropped once its reply is complete.
    pub notices: VecDeque<PendingNotice>,
    /// Texts injected into its messages.
    pub injected: VecDeque<Injected>,
    /// Code withheld from its messages.
    pub withheld: VecDeque<Withheld>,
    /// The sessions whose history it shares, each up to an episode.
    pub ancestors: Vec<(SessionId, EpisodeId)>,
    /// The files for which replies of the last turn were refused, each with the last such reply's episode.
    #[rkyv(with = AsVec)]
    pub refused: BTreeMap<RelPath, EpisodeId>,
    /// How its context was cleared.
    pub clear: Clear,
    /// Whether a call of the model's opened it: its last text is that call's result.
    pub is_subagent: bool,
}

/// How a session's context was cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Store, Load)]
pub struct Clear {
    /// Where the conversation begins, and the event that says so.
    pub cut: Option<(ContextCut, Seq)>,
    /// Whether the user's next prompt begins it anew.
    pub is_asked: bool,
}

/// Where a turn of the user's begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Store, Load)]
pub struct Turn {
    /// The episode of its first prompt.
    pub from: EpisodeId,
    /// The event that composed that prompt last: a retry composes it again.
    pub composed: Seq,
}

/// An entity that the prompts of a session have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load)]
pub struct ShownEntity {
    /// The version that was shown last.
    pub version: VersionId,
    /// The event that composed the prompt that showed it last.
    pub shown_seq: Seq,
    /// Its position in the order in which entities were first shown. Only the first of them have one, and they are never forgotten.
    pub position: Option<u32>,
}

/// A point of a conversation from which a later prompt may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load)]
pub struct ConversationPoint {
    /// The conversation so far.
    pub transcript: TranscriptHash,
    /// The number of messages.
    pub length: u32,
}

/// A prompt without a completed reply.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load)]
pub struct PromptInProgress {
    /// Its episode.
    pub episode: EpisodeId,
    /// The conversation up to it.
    pub transcript: TranscriptHash,
    /// The number of messages.
    pub length: u32,
    /// Its last user message.
    pub user_key: Option<MessageKey>,
    /// The texts of its user messages.
    pub user: Vec<ArtifactHash>,
    /// Whether a reply is under way.
    pub in_flight: bool,
    /// Whether it ends with a tool's result, and not with a message of the user's.
    pub in_tool_chain: bool,
}

/// A property by which a session is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LookupKind {
    /// Its name.
    Name,
    /// The conversation after one of its last replies.
    Point,
    /// The conversation up to its last prompt.
    Prompt,
    /// Its last reply.
    Reply,
    /// Its last exchange.
    Tail,
}

/// A property, and the hash of its value.
type LookupKey = (LookupKind, [u8; 32]);

/// A property of a session, with the episode from which it has it.
type IndexKey = (LookupKey, EpisodeId, SessionId);

/// All conversations that can be continued.
#[derive(Default)]
pub struct Sessions {
    pub(crate) sessions: RowMap<SessionRow>,
    /// What [`Session::properties`] gives of each. Of several sessions with one property the newest is meant.
    index: BTreeMap<IndexKey, u32>,
    /// The session of each of the last episodes.
    episodes: BTreeMap<EpisodeId, SessionId>,
    /// The last block of the model's, until it is resolved.
    captured: Option<(CaptureId, EpisodeId, RelPath)>,
}

impl Sessions {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::PromptReceived(prompt) => self.apply_prompt(recorded, prompt),
            Event::ReplyEnded(ended) => self.apply_reply_end(recorded.episode, ended),
            Event::NoticeIssued(notice) => self.add_notice(notice),
            Event::ArtifactCaptured(captured) => {
                self.captured = match (captured.origin, &captured.path) {
                    (Origin::Model | Origin::Unattributed, Some(path)) => {
                        Some((captured.capture, recorded.episode, path.clone()))
                    }
                    _ => None,
                };
            }
            Event::ArtifactResolved(resolved) => {
                if let Some((capture, episode, path)) = self.captured.take()
                    && capture == resolved.capture
                    && resolved.level != Level::Confirmed
                {
                    self.note_refused_file(episode, path);
                }
            }
            Event::PromotionRefused(refused) => {
                self.note_refused_file(recorded.episode, refused.entity.path.clone());
            }
            Event::AuthorFound(found) if found.opens_subagent => {
                if let Some(session) = self.changed(recorded.session) {
                    session.is_subagent = true;
                }
            }
            Event::ContextCleared(cleared) => {
                if let Some(session) = self.changed(recorded.session) {
                    session.apply_cleared(recorded.seq, cleared.cut);
                }
            }
            Event::PromptAmended(amended) => {
                if let Some(session) = self.changed_by(recorded.episode) {
                    session.apply_amended(amended);
                }
            }
            Event::PromptComposed(composed) => {
                if let Some(session) = self.changed_by(recorded.episode) {
                    session.apply_composed(recorded.seq, composed);
                }
            }
            _ => {}
        }
    }

    fn apply_prompt(&mut self, recorded: &Recorded, prompt: &PromptReceived) {
        let (episode, id) = (recorded.episode, recorded.session);
        self.add_episode(episode, id);
        if !self.sessions.contains_key(&(id,)) {
            let session = self.new_session(prompt);
            self.insert_session(id, session);
        }
        let session = self.changed(id);
        let session = session.expect("a session is inserted before its prompt");
        let last = session
            .last_prompt
            .replace((prompt.transcript, prompt.length));
        session.system = prompt.system;
        let current = prompt.messages.current();
        let last_episode = core::mem::replace(&mut session.last_episode, episode);
        if !current.iter().any(|message| message.role == Role::Tool) {
            let turn = Turn {
                from: episode,
                composed: recorded.seq,
            };
            session.turn_before = core::mem::replace(&mut session.turn, turn);
        }
        session.open = Some(PromptInProgress {
            episode,
            transcript: prompt.transcript,
            length: prompt.length,
            user_key: current
                .iter()
                .rfind(|message| message.role == Role::User)
                .map(|message| message.key),
            user: current
                .iter()
                .filter(|message| message.role == Role::User)
                .map(|message| message.content)
                .collect(),
            in_flight: true,
            in_tool_chain: current.last().is_some_and(|last| last.role != Role::User),
        });
        if let Some((last, _)) = last {
            self.index
                .remove(&((LookupKind::Prompt, last.0), last_episode, id));
        }
        self.index
            .insert(((LookupKind::Prompt, prompt.transcript.0), episode, id), 0);
        // Last: the prompt has made its own session the newest, so another one goes.
        self.evict_oldest_session();
    }

    /// Adds an episode to a session, and forgets the oldest of too many.
    fn add_episode(&mut self, episode: EpisodeId, session: SessionId) {
        if episode != EpisodeId::OUTSIDE {
            self.episodes.insert(episode, session);
        }
        if self.episodes.len() > RECENT_EPISODES_KEPT {
            self.episodes.pop_first();
        }
    }

    /// `episodes`: the last ones, each with its session.
    pub(crate) fn finish_restoring(
        &mut self,
        episodes: impl Iterator<Item = (EpisodeId, SessionId)>,
    ) {
        self.episodes = episodes.collect();
        let rows = self.sessions.values();
        self.index = rows.flat_map(|row| row.properties(row.session)).collect();
    }

    /// A new session, or one that shares another's history up to a point.
    fn new_session(&self, prompt: &PromptReceived) -> Session {
        let fresh = Session {
            name: prompt.session_name.clone(),
            ..Session::default()
        };
        let forked = |fork| self.fork_of(fork, prompt.length);
        match prompt.fork.and_then(forked) {
            Some(shared) => Session {
                name: fresh.name,
                ..shared
            },
            None => fresh,
        }
    }

    /// A session that shares another's history up to a fork, and what was injected into or withheld from messages that the
    /// new prompt has; `length` is its number of messages.
    fn fork_of(&self, fork: Fork, length: u32) -> Option<Session> {
        let source = self.sessions.get(&(fork.session,))?;
        let exchanges: VecDeque<_> = source
            .exchanges
            .iter()
            .filter(|(_, length)| *length <= fork.messages)
            .cloned()
            .collect();
        let mut points = source.points.iter();
        // A fork after a prompt shares the replies before it.
        let shared = points.rfind(|(_, point)| point.length <= fork.messages);
        let mut ancestors = source.ancestors.clone();
        ancestors.extend(shared.map(|(episode, _)| (fork.session, *episode)));
        let surplus = ancestors.len().saturating_sub(ANCESTORS_KEPT);
        ancestors.drain(..surplus);
        let mut injected = source.injected.clone();
        injected.retain(|injected| injected.position <= length);
        let withheld = source.withheld.iter();
        let withheld = withheld.filter(|withheld| withheld.position <= length);
        Some(Session {
            length: fork.messages,
            exchanges,
            entities: source.entities.clone(),
            injected,
            withheld: withheld.cloned().collect(),
            ancestors,
            is_subagent: source.is_subagent,
            clear: Clear {
                cut: source.clear.cut.and_then(|(cut, seq)| {
                    // Of a turn that is written anew only the very prompt that cleared it is one that did.
                    let reply = cut.reply.filter(|_| cut.position <= fork.messages);
                    (cut.position <= length).then_some((ContextCut { reply, ..cut }, seq))
                }),
                is_asked: false,
            },
            ..Session::default()
        })
    }

    fn insert_session(&mut self, id: SessionId, state: Session) {
        self.index.extend(state.properties(id));
        self.sessions.put(SessionRow { session: id, state });
    }

    fn apply_reply_end(&mut self, episode: EpisodeId, ended: &ReplyEnded) {
        let Some(id) = self.of(episode) else {
            return;
        };
        let Some(session) = self.changed(id) else {
            return;
        };
        let Some(open) = session.open.as_mut().filter(|open| open.episode == episode) else {
            return;
        };
        open.in_flight = false;
        // The prompt stays open: clients send it again.
        if ended.outcome != ReplyOutcome::Completed {
            return;
        }
        let open = session
            .open
            .take()
            .expect("the reply's prompt was found to be open");
        let before: Vec<_> = session
            .last_reply_properties(id)
            .map(|(key, _)| key)
            .collect();
        session.notices.retain(|notice| !notice.was_shown);
        let head = open.transcript.extended(ended.key);
        session.length = open.length.saturating_add(1);
        session.head = Some(head);
        let point = ConversationPoint {
            transcript: head,
            length: session.length,
        };
        let replaced = session.points.insert(episode, point);
        let surplus = session.points.len() > POINTS_PER_SESSION;
        let oldest = surplus.then(|| session.points.pop_first()).flatten();
        session.tail = open
            .user_key
            .map(|user_key| TranscriptHash::of_exchange(user_key, ended.key));
        session.reply = Some(ended.key);
        let exchange = Exchange {
            user: open.user,
            assistant: ended.segments.clone(),
        };
        session.exchanges.push_back((exchange, session.length));
        if session.exchanges.len() > RECENT_PAIRS {
            session.exchanges.pop_front();
        }
        debug_assert!(
            session.points.len() <= POINTS_PER_SESSION,
            "points are bounded"
        );
        let added: Vec<_> = session.last_reply_properties(id).collect();
        let gone = replaced.map(|point| (episode, point)).into_iter();
        let gone = gone.chain(oldest).map(|(episode, point)| {
            let key = (LookupKind::Point, point.transcript.0);
            (key, episode, id)
        });
        for key in gone.chain(before) {
            self.index.remove(&key);
        }
        self.index.extend(added);
        self.index
            .insert(((LookupKind::Point, head.0), episode, id), point.length);
    }

    /// A reply's change of a file was refused.
    fn note_refused_file(&mut self, episode: EpisodeId, path: RelPath) {
        if let Some(session) = self.changed_by(episode) {
            // An agent's later step may mend an earlier one.
            let turn = session.turn.from;
            session.refused.retain(|_, refused| *refused >= turn);
            session.refused.insert(path, episode);
            if session.refused.len() > REFUSED_FILES_MAX {
                let oldest = session.refused.iter().min_by_key(|(_, refused)| **refused);
                let oldest = oldest.map(|(path, _)| path.clone());
                oldest.and_then(|path| session.refused.remove(&path));
            }
        }
    }

    fn add_notice(&mut self, notice: &NoticeIssued) {
        let is_word_on_code = matches!(
            notice.reason,
            Reason::UserAccepted | Reason::DeletionAccepted | Reason::UserConfirmed
        );
        if let (SessionId(0), true, Some(entity)) =
            (notice.session, is_word_on_code, &notice.entity)
        {
            // What the user says in a terminal takes back what conversations were told of a refusal.
            let sessions = self.sessions.iter();
            let told = sessions.filter(|((id,), session)| {
                *id != SessionId(0) && session.refused.contains_key(&entity.path)
            });
            for session in told.map(|((id,), _)| *id).collect::<Vec<_>>() {
                self.add_notice(&NoticeIssued {
                    session,
                    ..notice.clone()
                });
            }
        }
        let Some(session) = self.changed(notice.session) else {
            return;
        };
        session.notices.push_back(PendingNotice {
            notice: notice.clone(),
            was_shown: false,
        });
        if session.notices.len() > NOTICES_WAITING_MAX {
            session.notices.pop_front();
        }
        debug_assert!(
            session.notices.len() <= NOTICES_WAITING_MAX,
            "waiting notices are bounded"
        );
    }

    /// Forgets the session whose last prompt is the oldest, if there are too many.
    fn evict_oldest_session(&mut self) {
        if self.sessions.len() <= SESSIONS_KEPT {
            return;
        }
        let oldest = self.sessions.values().min_by_key(|it| it.last_episode);
        let oldest = oldest.map(|it| (it.session,));
        let row = oldest.and_then(|oldest| self.sessions.remove(&oldest));
        let row = row.expect("there are more sessions than are kept");
        for (key, _) in row.properties(row.session) {
            self.index.remove(&key);
        }
    }

    /// The newest session with this property, and the number of messages up to it, if that is a point.
    fn indexed(&self, key: LookupKey) -> Option<(SessionId, u32)> {
        let least = (EpisodeId(0), SessionId(0));
        let most = (EpisodeId(u64::MAX), SessionId(u64::MAX));
        let owners = (key, least.0, least.1)..=(key, most.0, most.1);
        let ((_, _, session), messages) = self.index.range(owners).next_back()?;
        Some((*session, *messages))
    }

    fn indexed_session(&self, key: LookupKey) -> Option<SessionId> {
        self.indexed(key).map(|(session, _)| session)
    }

    /// The session, which changes.
    fn changed(&mut self, id: SessionId) -> Option<&mut Session> {
        Some(&mut self.sessions.get_mut(&(id,))?.state)
    }

    /// The session of an episode, which changes.
    fn changed_by(&mut self, episode: EpisodeId) -> Option<&mut Session> {
        self.changed(self.of(episode)?)
    }

    /// The session with this name, which a client gave it.
    #[must_use]
    pub fn session_named(&self, name: &str) -> Option<SessionId> {
        self.indexed_session(name_key(name))
    }

    /// The session that reached this conversation after a completed reply.
    #[must_use]
    pub fn session_at(&self, transcript: TranscriptHash) -> Option<SessionPoint> {
        let (id, length) = self.indexed((LookupKind::Point, transcript.0))?;
        let session = self.sessions.get(&(id,))?;
        let busy = session.open.as_ref().is_some_and(|open| open.in_flight);
        let is_head = session.head == Some(transcript) && !busy;
        Some(SessionPoint {
            session: id,
            length,
            place: if is_head {
                SessionPosition::Head
            } else {
                SessionPosition::Past
            },
        })
    }

    /// The point after `length` messages of any session from which the `rest` of the messages leads to the conversation `whole`.
    #[must_use]
    pub fn leading_to(
        &self,
        whole: TranscriptHash,
        length: u32,
        rest: impl Iterator<Item = MessageKey>,
    ) -> Option<SessionPoint> {
        let rest: Vec<MessageKey> = rest.collect();
        let first = ((LookupKind::Point, [0; 32]), EpisodeId(0), SessionId(0));
        let points = self.index.range(first..);
        let mut points = points
            .take_while(|(((kind, _), ..), _)| *kind == LookupKind::Point)
            .filter(|(_, messages)| **messages == length)
            .map(|(((_, point), ..), _)| *point);
        let point = points.find(|point| {
            let point = TranscriptHash(*point);
            let extended = rest.iter().fold(point, |point, key| point.extended(*key));
            extended == whole
        })?;
        self.session_at(TranscriptHash(point))
    }

    /// Whether there is such a session.
    #[must_use]
    pub fn contains(&self, session: SessionId) -> bool {
        self.sessions.contains_key(&(session,))
    }

    /// The session at whose head the last prompt and reply are these (see [`TranscriptHash::of_exchange`]).
    #[must_use]
    pub fn with_tail(&self, tail: TranscriptHash) -> Option<SessionId> {
        self.indexed_session((LookupKind::Tail, tail.0))
    }

    /// The session whose last reply this is, and its last exchange.
    #[must_use]
    pub fn with_reply(&self, reply: MessageKey) -> Option<(SessionId, Exchange)> {
        let id = self.indexed_session((LookupKind::Reply, reply.0))?;
        let (exchange, _) = self.sessions.get(&(id,))?.exchanges.back()?;
        Some((id, exchange.clone()))
    }

    /// The open prompt whose conversation this is.
    #[must_use]
    pub fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt> {
        let session = self.indexed_session((LookupKind::Prompt, transcript.0))?;
        let open = self.sessions.get(&(session,))?.open.as_ref()?;
        Some(OpenPrompt {
            session,
            episode: open.episode,
        })
    }

    /// The session whose last prompt this conversation is.
    #[must_use]
    pub fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt> {
        let id = self.indexed_session((LookupKind::Prompt, transcript.0))?;
        let session = self.sessions.get(&(id,))?;
        let (_, length) = session.last_prompt?;
        Some(LastPrompt {
            session: id,
            length,
            in_flight: session.open.as_ref().is_some_and(|open| open.in_flight),
        })
    }

    /// Whether this text was the session's prompt before, as the last of `length` messages: it is its open prompt, or was
    /// answered there within the last exchanges. An agent's loop has an exchange for each of its steps, all with the same text.
    #[must_use]
    pub fn was_prompted(&self, session: SessionId, length: u32, text: ArtifactHash) -> bool {
        let Some(session) = self.sessions.get(&(session,)) else {
            return false;
        };
        let says = |user: &[ArtifactHash]| user.last() == Some(&text);
        let open = session.open.as_ref();
        let is_open = open.is_some_and(|open| open.length == length && says(&open.user));
        let answered = length.saturating_add(1);
        let mut points = session.points.values();
        let was_answered = points.any(|point| point.length == answered);
        let is_recent = |(exchange, at): &(Exchange, u32)| *at >= answered && says(&exchange.user);
        is_open || (was_answered && session.exchanges.iter().any(is_recent))
    }

    /// The session of an episode that is among the recent ones.
    #[must_use]
    pub fn of(&self, episode: EpisodeId) -> Option<SessionId> {
        self.episodes.get(&episode).copied()
    }

    /// The last completed exchanges, oldest first, at most [`tslp_core::limits::RECENT_PAIRS`].
    #[must_use]
    pub fn recent_exchanges(&self, session: SessionId) -> Vec<Exchange> {
        self.sessions
            .get(&(session,))
            .map_or_else(Vec::new, |session| {
                session
                    .exchanges
                    .iter()
                    .map(|(exchange, _)| exchange.clone())
                    .collect()
            })
    }

    /// Those of the exchanges that a clear has left.
    #[must_use]
    pub fn exchanges_kept(&self, session: SessionId) -> Vec<Exchange> {
        let first = self.clear(session).cut.map_or(0, |(cut, _)| cut.position);
        let session = self.sessions.get(&(session,));
        let exchanges = session.into_iter().flat_map(|session| &session.exchanges);
        let kept = exchanges.filter(|(_, length)| *length > first);
        kept.map(|(exchange, _)| exchange.clone()).collect()
    }

    /// How the session's context was cleared.
    #[must_use]
    pub fn clear(&self, session: SessionId) -> Clear {
        let session = self.sessions.get(&(session,));
        session.map_or_else(Clear::default, |session| session.clear)
    }

    /// The event by which a conversation was cleared last.
    #[must_use]
    pub fn last_clear(&self) -> Seq {
        let cuts = self.sessions.values().filter_map(|it| it.clear.cut);
        cuts.map(|(_, seq)| seq).max().unwrap_or_default()
    }

    /// The user's texts in the session's prompt whose reply hasn't come to its end.
    #[must_use]
    pub fn open_texts(&self, session: SessionId) -> &[ArtifactHash] {
        let open = self
            .sessions
            .get(&(session,))
            .and_then(|it| it.open.as_ref());
        open.map_or(&[], |open| &open.user)
    }

    /// The model's last reply in the session.
    #[must_use]
    pub fn last_reply(&self, session: SessionId) -> Option<MessageKey> {
        self.sessions.get(&(session,))?.reply
    }

    /// Entities in the order in which the session first hydrated them.
    #[must_use]
    pub fn hydration_order(&self, session: SessionId) -> Vec<EntityId> {
        let session = self.sessions.get(&(session,));
        let entities = session.into_iter().flat_map(|session| &session.entities);
        let mut placed: Vec<(u32, &EntityId)> = entities
            .filter_map(|(entity, shown)| Some((shown.position?, entity)))
            .collect();
        placed.sort_unstable();
        placed
            .into_iter()
            .map(|(_, entity)| entity.clone())
            .collect()
    }

    /// The system messages of a session's last prompt, in the Vault.
    #[must_use]
    pub fn system(&self, session: SessionId) -> Option<ArtifactHash> {
        self.sessions.get(&(session,))?.system
    }

    /// The version of an entity that the model was shown in this episode's prompt, if it is the session's last.
    #[must_use]
    pub fn version_shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId> {
        let session = self.sessions.get(&(self.of(episode)?,))?;
        let is_last = session.last_episode == episode;
        let shown = session.entities.get(entity);
        let shown = shown.filter(|shown| is_last && shown.shown_seq == session.composed_seq);
        shown.map(|shown| shown.version)
    }

    /// Whether the user hasn't said anything in the session since this episode's prompt: an agent's steps go on by themselves.
    #[must_use]
    pub fn is_of_last_turn(&self, session: SessionId, episode: EpisodeId) -> bool {
        let session = self.sessions.get(&(session,));
        session.is_some_and(|session| episode >= session.turn.from)
    }

    /// The turn before the user's last one.
    #[must_use]
    pub fn turn_before(&self, session: SessionId) -> Option<PreviousTurn> {
        let session = self.sessions.get(&(session,))?;
        let shown = session.entities.iter();
        let shown = shown.filter(|(_, shown)| shown.shown_seq >= session.turn_before.composed);
        Some(PreviousTurn {
            episodes: session.turn_before.from..session.turn.from,
            shown: shown.map(|(entity, _)| entity.clone()).collect(),
        })
    }

    /// Notices that the model hasn't been given yet, oldest first.
    #[must_use]
    pub fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice> {
        self.sessions
            .get(&(session,))
            .map_or_else(Vec::new, |session| {
                session.notices.iter().cloned().collect()
            })
    }

    /// The changes to the session's messages.
    #[must_use]
    pub fn amendments(&self, session: SessionId) -> Amendments {
        self.sessions
            .get(&(session,))
            .map_or_else(Amendments::default, |session| Amendments {
                injected: session.injected.iter().cloned().collect(),
                withheld: session.withheld.iter().cloned().collect(),
            })
    }

    /// The position of an episode's reply in the session's conversation, which may be shared with the session that it was
    /// forked from; for an episode that isn't over, the position of its prompt. The reply of a forgotten session counts as the last.
    #[must_use]
    pub fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32> {
        let owner = self.of(episode)?;
        let shares =
            |(ancestor, until): &(SessionId, EpisodeId)| *ancestor == owner && episode <= *until;
        let ancestors = self.sessions.get(&(session,)).map(|it| &it.ancestors);
        let is_shared = ancestors.is_some_and(|ancestors| ancestors.iter().any(shares));
        if owner != session && !is_shared {
            return None;
        }
        let Some(owner) = self.sessions.get(&(owner,)) else {
            return Some(u32::MAX);
        };
        let reply = owner.points.get(&episode);
        let open = owner.open.as_ref().filter(|open| open.episode == episode);
        let position = reply.map(|point| point.length);
        Some(
            position
                .or(open.map(|open| open.length))
                .unwrap_or(u32::MAX),
        )
    }

    /// The session's last complete reply, if its client has carried out the calls: a tool's result ends the open prompt.
    #[must_use]
    pub fn reply_carried_out(&self, session: SessionId) -> Option<EpisodeId> {
        let session = self.sessions.get(&(session,))?;
        session.open.as_ref().filter(|open| open.in_tool_chain)?;
        session.points.keys().next_back().copied()
    }

    /// Where the user's last turn of a conversation began; `None` for a subagent's, whose turns are the model's.
    #[must_use]
    pub fn users_turn(&self, session: SessionId) -> Option<EpisodeId> {
        let session = self
            .sessions
            .get(&(session,))
            .filter(|it| !it.is_subagent)?;
        // A step that is sent again goes on from the turn that it is a step of.
        let ancestors = session.ancestors.iter().rev();
        let ancestors = ancestors.filter_map(|(id, _)| self.sessions.get(&(*id,)));
        let turns = [session].into_iter().chain(ancestors);
        turns
            .map(|it| it.turn.from)
            .find(|from| *from != EpisodeId::default())
    }

    /// Files for which the session's last complete reply was refused.
    #[must_use]
    pub fn refused_files(&self, session: SessionId) -> Vec<RelPath> {
        let Some(session) = self.sessions.get(&(session,)) else {
            return Vec::new();
        };
        let last = session.points.keys().next_back().copied();
        let refused = session.refused.iter();
        let is_of_turn = |episode: EpisodeId| episode >= session.turn.from;
        let refused = refused.filter(|(_, at)| Some(**at) == last || is_of_turn(**at));
        refused.map(|(path, _)| path.clone()).collect()
    }
}

impl Session {
    /// The properties by which it is recognised; of a point with its number of messages.
    fn properties(&self, id: SessionId) -> impl Iterator<Item = (IndexKey, u32)> {
        let name = self.name.as_deref().map(name_key);
        let name = name.map(|key| ((key, EpisodeId(0), id), 0));
        let points = self.points.iter().map(move |(episode, point)| {
            let key = (LookupKind::Point, point.transcript.0);
            ((key, *episode, id), point.length)
        });
        let prompt = self.last_prompt.map(|(last, _)| {
            let key = (LookupKind::Prompt, last.0);
            ((key, self.last_episode, id), 0)
        });
        let others = name.into_iter().chain(prompt);
        others.chain(points).chain(self.last_reply_properties(id))
    }

    fn last_reply_properties(
        &self,
        id: SessionId,
    ) -> impl Iterator<Item = (IndexKey, u32)> + use<> {
        let last = self.points.keys().next_back();
        let episode = last.copied().unwrap_or_default();
        let reply = self.reply.map(|reply| (LookupKind::Reply, reply.0));
        let tail = self.tail.map(|tail| (LookupKind::Tail, tail.0));
        let both = reply.into_iter().chain(tail);
        both.map(move |key| ((key, episode, id), 0))
    }

    /// What was put into older messages, or taken out of them, went with them.
    fn apply_cleared(&mut self, seq: Seq, cut: Option<ContextCut>) {
        self.clear.is_asked = cut.is_none();
        let Some(cut) = cut else {
            return;
        };
        self.clear.cut = Some((cut, seq));
        self.injected.retain(|it| it.position >= cut.position);
        self.withheld.retain(|it| it.position >= cut.position);
    }

    fn apply_amended(&mut self, amended: &PromptAmended) {
        let injected = amended.injected.iter().cloned();
        push_bounded(&mut self.injected, injected, INJECTIONS_PER_SESSION_MAX);
        let withheld = amended.withheld.iter().cloned();
        push_bounded(&mut self.withheld, withheld, WITHHELD_PER_SESSION_MAX);
    }

    fn apply_composed(&mut self, seq: Seq, composed: &PromptComposed) {
        let in_tool_chain = self.open.as_ref().is_some_and(|open| open.in_tool_chain);
        for pending in &mut self.notices {
            pending.was_shown = composed.history == History::Window
                || !in_tool_chain
                || pending.notice.reason.is(ReasonClass::NextStep);
        }
        self.composed_seq = seq;
        if self.turn.from == self.last_episode {
            self.turn.composed = seq;
        }
        for hydrated in &composed.hydrated {
            self.note_shown(seq, hydrated);
        }
    }

    fn note_shown(&mut self, shown_seq: Seq, hydrated: &Hydrated) {
        let known = self.entities.get(&hydrated.entity);
        // Positions have no gaps, because the entities that have one are never forgotten.
        let position = match known {
            Some(known) => known.position,
            None => u32::try_from(self.entities.len())
                .ok()
                .filter(|position| *position < HYDRATION_ORDER_KEPT),
        };
        if known.is_none() && self.entities.len() >= ENTITIES_KEPT {
            self.forget_entity();
        }
        let shown = ShownEntity {
            version: hydrated.version,
            shown_seq,
            position,
        };
        self.entities.insert(hydrated.entity.clone(), shown);
        debug_assert!(
            self.entities.len() <= ENTITIES_KEPT,
            "shown entities are bounded"
        );
    }

    /// Forgets the entity that wasn't shown for the longest time.
    fn forget_entity(&mut self) {
        let entities = self.entities.iter();
        let others = entities.filter(|(_, shown)| shown.position.is_none());
        let oldest = others.min_by_key(|(_, shown)| shown.shown_seq);
        let (entity, _) = oldest.expect("more entities are kept than have a position");
        let entity = entity.clone();
        self.entities.remove(&entity);
    }
}

fn name_key(name: &str) -> LookupKey {
    (LookupKind::Name, ArtifactHash::of(name.as_bytes()).0)
}

/// Adds items to a list of bounded length, which loses the first ones.
fn push_bounded<T>(list: &mut VecDeque<T>, items: impl Iterator<Item = T>, max: usize) {
    list.extend(items);
    let surplus = list.len().saturating_sub(max);
    list.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use tslp_core::entity::Symbol;
    use tslp_core::event::{Envelope, PromptMessages};
    use tslp_core::ids::UnixMillis;
    use tslp_core::message::Tools;
    use tslp_core::reason::Reason;

    use super::*;
    use crate::row::Row as _;

    fn entity(number: usize) -> EntityId {
        let symbol = Symbol::new(&alloc::format!("f{number}"));
        EntityId::symbol(RelPath::from_normalised("a.c"), symbol)
    }

    fn hydrated(number: usize) -> Hydrated {
        Hydrated {
            entity: entity(number),
            version: VersionId(1),
            reason: Reason::Mentioned,
            tokens: 1,
        }
    }

    /// If a prompt was sent twice, only the second one counts.
    #[test]
    fn sent_twice() {
        let (episode, session) = (EpisodeId(1), SessionId(1));
        let prompt = Event::PromptReceived(PromptReceived {
            session_name: None,
            fork: None,
            transcript: TranscriptHash([1; 32]),
            length: 1,
            model: String::new(),
            system: None,
            messages: PromptMessages::default(),
            tools: Tools::None,
        });
        let composed = |hydrated| {
            Event::PromptComposed(PromptComposed {
                history: History::Client,
                hydrated,
                dropped: Vec::new(),
                notices: 0,
                budget_tokens: 1,
            })
        };
        let first = composed(Vec::from([hydrated(0), hydrated(1)]));
        let second = composed(Vec::from([hydrated(0)]));
        let mut sessions = Sessions::default();
        for (seq, event) in (1..).zip([prompt, first, second]) {
            let recorded = Recorded {
                envelope: Envelope {
                    episode,
                    session,
                    ..Envelope::outside(Seq(seq), UnixMillis(0))
                },
                event,
            };
            sessions.apply(&recorded);
        }
        let shown = |number| sessions.version_shown(episode, &entity(number));
        assert_eq!((shown(0), shown(1)), (Some(VersionId(1)), None));
        assert!(sessions.is_of_last_turn(session, episode));
    }

    /// Of too many entities the first and the last ones are kept, also by a fold that goes on from the rows.
    #[test]
    fn first_and_last_kept() {
        let mut session = Session::default();
        let placed = HYDRATION_ORDER_KEPT as usize;
        for number in 0..ENTITIES_KEPT {
            session.note_shown(Seq(number as u64), &hydrated(number));
        }
        // Shown again, the first without a position isn't the one that was shown longest ago.
        session.note_shown(Seq(ENTITIES_KEPT as u64), &hydrated(placed));
        let row = SessionRow {
            session: SessionId(1),
            state: session.clone(),
        };
        let cells = row.into_cells();
        let row = SessionRow::from_cells(&cells).unwrap();
        assert_eq!(row.state, session);
        let mut restored = Sessions::default();
        restored.sessions.put(row);
        for number in [ENTITIES_KEPT, ENTITIES_KEPT + 1] {
            let seq = Seq(number as u64 + 1);
            session.note_shown(seq, &hydrated(number));
            let again = restored.sessions.get_mut(&(SessionId(1),)).unwrap();
            again.state.note_shown(seq, &hydrated(number));
            assert_eq!(again.entities, session.entities);
        }
        assert_eq!(session.entities.len(), ENTITIES_KEPT);
        for number in 0..ENTITIES_KEPT + 2 {
            let is_forgotten = number == placed + 1 || number == placed + 2;
            let shown = session.entities.get(&entity(number));
            assert_eq!(shown.is_none(), is_forgotten, "{number}");
            let position = shown.and_then(|shown| shown.position);
            assert_eq!(position.is_some(), number < placed, "{number}");
        }
        let order: Vec<_> = (0..placed).map(entity).collect();
        assert_eq!(restored.hydration_order(SessionId(1)), order);
    }
}
