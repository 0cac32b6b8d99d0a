//! A prompt comes in: which session it belongs to, and which of its messages are new.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Recorder, tail_of};
use crate::delimiter;
use crate::event::{
    ContentKind, Event, Fork, History, MessageRef, PromptReceived, SideRequestReceived,
};
use crate::hash::{ArtifactHash, MessageKey, TranscriptHash};
use crate::ids::{EpisodeId, SessionId};
use crate::message::{Attempt, Request, Role, Tools};
use crate::policy::{HistoryChoice, Policy};
use crate::read_message::ReadMessage;
use crate::view::{Place, View};

/// What is known of a prompt once it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// What to append.
    pub events: Vec<Event>,
    /// The prompt's episode.
    pub episode: EpisodeId,
    /// The prompt's session.
    pub session: SessionId,
    /// Whether every older message is a prompt or reply of this very session.
    pub is_own: bool,
    /// When the user said the current prompt's words.
    pub said: Said,
    /// User messages whose code may be a new paste: their indices in the request.
    pub new_user_messages: Vec<usize>,
    /// How each message of the request is recognised when it is sent again; `None` of system messages.
    pub keys: Vec<Option<MessageKey>>,
    /// How many messages, system messages left out, were in the session's conversation before.
    pub known_length: u32,
    /// How many messages of the conversation the request leaves out in front: none, but where it is on record.
    pub left_out: u32,
}

/// When the user said the words of the current prompt, which clients send again with each step of an agent's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Now, or for the first time as far as the ledger knows: the words act.
    Now,
    /// Before, word for word, and nothing tells a new conversation with the same words from another reply that is asked
    /// for: directives act, code as in [`Again`](Self::Again).
    Repeated,
    /// Before, and another reply is asked for: the words act again only where nothing has come of the time since.
    Again,
    /// Before, and they have acted: a reply stands behind them, or the request is a retry.
    Before,
}

/// Records a prompt.
#[must_use]
pub fn receive(view: &dyn View, request: &Request) -> Received {
    let conversation = Conversation::of(request);
    if request.attempt == Attempt::Retry
        && let Some(open) = view.open_prompt(conversation.whole)
    {
        return Received {
            events: Vec::new(),
            episode: open.episode,
            session: open.session,
            is_own: is_own(view, &conversation, &Belonging::Continues(open.session)),
            said: Said::Before,
            new_user_messages: Vec::new(),
            keys: conversation.keys(request.messages.len()),
            known_length: u32::try_from(conversation.older()).unwrap_or(u32::MAX),
            left_out: 0,
        };
    }
    record(view, request, &conversation)
}

fn record(view: &dyn View, request: &Request, conversation: &Conversation<'_>) -> Received {
    let belonging = belonging(view, request, conversation);
    let said = said(view, conversation, &belonging);
    let known = KnownPart::longest(view, conversation);
    let known_length = known
        .filter(|known| Some(known.session) == belonging.session())
        .map_or(0, |known| known.length);
    // What went to a model before was recorded then.
    let recorded = known.map_or(0, |known| known.length as usize);
    let episode = view.next_episode();
    let (session, fork) = match belonging {
        Belonging::Continues(session) => (session, None),
        Belonging::Forks(fork) => (view.next_session(), Some(fork)),
        Belonging::Starts => (view.next_session(), None),
    };
    let mut recorder = Recorder::new(view);
    let mut messages = Vec::new();
    let mut new_user_messages = Vec::new();
    let mut older = 0;
    for (position, spoken) in conversation.messages.iter().enumerate() {
        let is_known =
            || position < recorded || spoken.text.is_empty() || view.holds(spoken.content);
        if spoken.time == Time::Older && is_known() {
            continue;
        }
        let has_acted = spoken.time == Time::Now && said == Said::Before && is_known();
        if spoken.role == Role::User && !has_acted {
            new_user_messages.push(spoken.index);
        }
        older += u32::from(spoken.time == Time::Older);
        recorder.store_as(spoken.content, ContentKind::Message, spoken.text.as_bytes());
        messages.push(MessageRef {
            role: spoken.role,
            key: spoken.key,
            content: spoken.content,
        });
    }
    let system = record_system(&mut recorder, request);
    recorder.push(Event::PromptReceived(PromptReceived {
        episode,
        session,
        session_name: request.session_name.clone(),
        fork,
        transcript: conversation.whole,
        length: conversation.length(),
        model: request.model.clone(),
        system,
        messages,
        older,
        tools: request.tools,
    }));
    Received {
        events: recorder.into_events(),
        episode,
        session,
        // Between words that were answered and the request's end stands what an agent's tools gave.
        is_own: said != Said::Before && is_own(view, conversation, &belonging),
        said,
        new_user_messages,
        keys: conversation.keys(request.messages.len()),
        known_length,
        left_out: 0,
    }
}

/// Records what the system messages say, joined by a blank line; `None` if that is nothing.
fn record_system(recorder: &mut Recorder<'_>, request: &Request) -> Option<ArtifactHash> {
    let messages = request.messages.iter();
    let mut system = messages.filter(|message| message.role == Role::System);
    let first = system.next()?;
    let mut rest = system.peekable();
    if rest.peek().is_none() {
        let text = first.recorded();
        return (!text.is_empty()).then(|| {
            recorder.store_as(first.content(), ContentKind::Message, text.as_bytes());
            first.content()
        });
    }
    let texts: Vec<&str> = [first]
        .into_iter()
        .chain(rest)
        .map(|it| it.recorded())
        .collect();
    Some(recorder.store(ContentKind::Message, texts.join("\n\n").as_bytes()))
}

/// Records a request beside a conversation.
#[must_use]
pub fn receive_side_request(view: &dyn View, request: &Request) -> (EpisodeId, Vec<Event>) {
    let episode = view.next_episode();
    let received = Event::SideRequestReceived(SideRequestReceived {
        episode,
        model: request.model.clone(),
        messages: u32::try_from(request.messages.len()).unwrap_or(u32::MAX),
        transcript: Conversation::of(request).whole,
    });
    (episode, Vec::from([received]))
}

/// The texts of all system messages, joined by a blank line, without anything that the proxy itself injected.
#[must_use]
pub fn system_text(request: &Request) -> String {
    let texts: Vec<String> = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| delimiter::strip_blocks(&message.parts.join("\n")).into_owned())
        .collect();
    texts.join("\n\n")
}

/// When a message was said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Before the current prompt.
    Older,
    /// In the current prompt.
    Now,
}

/// One message of the conversation as the ledger may hold it.
struct Spoken<'r> {
    index: usize,
    role: Role,
    time: Time,
    text: &'r str,
    key: MessageKey,
    /// Its text's address in the Vault.
    content: ArtifactHash,
}

/// A request's messages as a chain of hashes, system messages left out.
struct Conversation<'r> {
    messages: Vec<Spoken<'r>>,
    /// After each reply: the hash so far and the count of messages.
    after_replies: Vec<(TranscriptHash, u32)>,
    /// After each message: the hash so far.
    after_messages: Vec<TranscriptHash>,
    whole: TranscriptHash,
}

impl<'r> Conversation<'r> {
    fn of(request: &'r Request) -> Self {
        let current_from = request.current_from();
        let mut conversation = Self {
            messages: Vec::with_capacity(request.messages.len()),
            after_replies: Vec::new(),
            after_messages: Vec::with_capacity(request.messages.len()),
            whole: TranscriptHash::EMPTY,
        };
        for (index, message) in request.messages.iter().enumerate() {
            if message.role != Role::System {
                conversation.add(
                    index,
                    message,
                    if index < current_from {
                        Time::Older
                    } else {
                        Time::Now
                    },
                );
            }
        }
        conversation
    }

    fn add(&mut self, index: usize, message: &'r ReadMessage, time: Time) {
        self.whole = self.whole.extended(message.key());
        self.after_messages.push(self.whole);
        self.messages.push(Spoken {
            index,
            role: message.role,
            time,
            text: message.recorded(),
            key: message.key(),
            content: message.content(),
        });
        if message.role == Role::Assistant {
            self.after_replies.push((self.whole, self.length()));
        }
    }

    fn length(&self) -> u32 {
        u32::try_from(self.messages.len()).unwrap_or(u32::MAX)
    }

    /// The keys of a request's messages, by their index in it.
    fn keys(&self, messages: usize) -> Vec<Option<MessageKey>> {
        let mut keys = alloc::vec![None; messages];
        for spoken in &self.messages {
            keys[spoken.index] = Some(spoken.key);
        }
        keys
    }

    fn older(&self) -> usize {
        self.messages.len() - self.current().len()
    }

    /// The messages of the current prompt.
    fn current(&self) -> &[Spoken<'r>] {
        let from = self
            .messages
            .partition_point(|spoken| spoken.time == Time::Older);
        &self.messages[from..]
    }
}

/// How a prompt relates to the sessions there are.
#[derive(Clone, Copy)]
enum Belonging {
    Continues(SessionId),
    Forks(Fork),
    Starts,
}

impl Belonging {
    /// The session whose conversation this is, or branches off.
    const fn session(&self) -> Option<SessionId> {
        match self {
            Self::Continues(session) => Some(*session),
            Self::Forks(fork) => Some(fork.session),
            Self::Starts => None,
        }
    }
}

fn belonging(view: &dyn View, request: &Request, conversation: &Conversation<'_>) -> Belonging {
    if let Some(name) = &request.session_name {
        return view
            .session_named(name)
            .map_or(Belonging::Starts, Belonging::Continues);
    }
    if let Some(session) = request.continues {
        return Belonging::Continues(session);
    }
    match KnownPart::longest(view, conversation) {
        Some(known) if known.is_end => Belonging::Continues(known.session),
        Some(known) => Belonging::Forks(Fork {
            session: known.session,
            messages: known.length,
        }),
        None => session_by_tail(view, conversation).map_or(Belonging::Starts, Belonging::Continues),
    }
}

/// The first messages of a conversation, which went to the model in a session before.
#[derive(Clone, Copy)]
struct KnownPart {
    session: SessionId,
    /// How many messages it has.
    length: u32,
    /// Whether the session can go on from there.
    is_end: bool,
}

impl KnownPart {
    fn longest(view: &dyn View, conversation: &Conversation<'_>) -> Option<Self> {
        let after_reply = Self::after_reply(view, conversation);
        let after_prompt = Self::after_prompt(view, conversation);
        let known = after_reply.into_iter().chain(after_prompt);
        known.max_by_key(|known| known.length)
    }

    fn after_reply(view: &dyn View, conversation: &Conversation<'_>) -> Option<Self> {
        let mut points = conversation.after_replies.iter().rev();
        let point = points.find_map(|(transcript, _)| view.session_at(*transcript))?;
        Some(Self {
            session: point.session,
            length: point.length,
            is_end: point.place == Place::Head,
        })
    }

    /// After a session's last prompt: its reply broke off, the user stopped it, or the client has changed it.
    fn after_prompt(view: &dyn View, conversation: &Conversation<'_>) -> Option<Self> {
        let (_, before) = conversation.after_messages.split_last()?;
        let mut before = before.iter().rev();
        let last = before.find_map(|transcript| view.last_prompt(*transcript))?;
        Some(Self {
            session: last.session,
            length: last.length,
            is_end: !last.in_flight,
        })
    }
}

/// Clients that rebuild their context in front of the history each turn still keep the last exchange in it.
fn session_by_tail(view: &dyn View, conversation: &Conversation<'_>) -> Option<SessionId> {
    let mut exchanges = Vec::new();
    let mut user = None;
    for spoken in &conversation.messages {
        match (spoken.role, user) {
            (Role::User, _) => user = Some(spoken),
            (Role::Assistant, Some(user)) => exchanges.push((user, spoken)),
            _ => {}
        }
    }
    exchanges.into_iter().rev().find_map(|(user, reply)| {
        view.session_with_tail(tail_of(user.key, reply.key))
            .or_else(|| session_by_reply(view, user, reply))
    })
}

/// Clients that add something to the current prompt alone (aider its rules at the end, Qwen Code the date before the user's
/// words) send it back without that as history.
fn session_by_reply(view: &dyn View, user: &Spoken<'_>, reply: &Spoken<'_>) -> Option<SessionId> {
    let (session, exchange) = view.session_with_reply(reply.key)?;
    let said = view.content(*exchange.user.last()?)?;
    let kept = user.text.trim().as_bytes();
    (is_kept_of(kept, said.trim_ascii()) && !kept.is_empty()).then_some(session)
}

/// Whether `kept` is all of `said` but for one piece.
fn is_kept_of(kept: &[u8], said: &[u8]) -> bool {
    let alike = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = kept.iter().zip(said).take_while(alike).count();
    let back = kept.iter().rev().zip(said.iter().rev());
    kept.len() <= said.len() && front + back.take_while(alike).count() >= kept.len()
}

fn said(view: &dyn View, conversation: &Conversation<'_>, belonging: &Belonging) -> Said {
    let current = conversation.current();
    let Some(words) = current.first().filter(|first| first.role == Role::User) else {
        return Said::Now;
    };
    let roles = current.iter().map(|spoken| spoken.role);
    if is_answered(roles, view.holds(words.content)) {
        return Said::Before;
    }
    let was_prompted = |session| view.was_prompted(session, conversation.length(), words.content);
    repeated(
        view.was_said(words.content),
        covering(view, conversation),
        belonging.session().is_some_and(was_prompted),
    )
}

/// When the words of a prompt that isn't answered were said. `was_said`: they are a message's on record; `behind`: the
/// reply that they stand behind, where all older messages are a session's own; `was_prompted`: they were the session's
/// prompt at this very point.
#[must_use]
pub fn repeated(was_said: bool, behind: Option<Place>, was_prompted: bool) -> Said {
    match behind {
        Some(_) if was_prompted => Said::Again,
        // At a conversation's end nobody has said anything before.
        Some(Place::Head) => Said::Now,
        _ if was_said => Said::Repeated,
        _ => Said::Now,
    }
}

/// Whether a reply stands behind the words that the current prompt begins with. Where a message of the model's ends the
/// request, a client may have begun the reply itself; then the words are new.
#[must_use]
pub fn is_answered(current: impl Iterator<Item = Role>, is_known: bool) -> bool {
    let mut behind = current.skip(1).peekable();
    while let Some(role) = behind.next() {
        if role == Role::Assistant && (is_known || behind.peek().is_some()) {
            return true;
        }
    }
    false
}

/// How a prompt's older messages are treated; `is_own` says whether every one of them is a prompt or reply of this very
/// session.
#[must_use]
pub fn history(policy: &Policy, tools: Tools, is_own: bool) -> History {
    match policy.history {
        HistoryChoice::Window => History::Window,
        HistoryChoice::Client => History::Client,
        HistoryChoice::Auto if tools == Tools::None && is_own => History::Window,
        HistoryChoice::Auto => History::Client,
    }
}

fn is_own(view: &dyn View, conversation: &Conversation<'_>, belonging: &Belonging) -> bool {
    match belonging {
        Belonging::Continues(session) => view.is_plain(*session) && is_covered(view, conversation),
        Belonging::Starts => conversation.older() == 0,
        Belonging::Forks(_) => false,
    }
}

/// Whether the ledger knows every older message as one of a session's own.
fn is_covered(view: &dyn View, conversation: &Conversation<'_>) -> bool {
    conversation.older() == 0 || covering(view, conversation).is_some()
}

/// Where in its session the reply stands that ends the older messages, if the ledger knows every one of them as that
/// session's own.
fn covering(view: &dyn View, conversation: &Conversation<'_>) -> Option<Place> {
    let older = conversation.older();
    let mut points = conversation.after_replies.iter();
    points
        .find(|(_, length)| *length as usize == older)
        .and_then(|(transcript, _)| view.session_at(*transcript))
        .map(|point| point.place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_of_the_words_may_be_left_out() {
        let kept = |kept: &str, said: &str| is_kept_of(kept.as_bytes(), said.as_bytes());
        assert!(kept("fix it", "fix it\nUse these formats."));
        assert!(kept("skills\nfix it", "skills\nIt is Sunday.\nfix it"));
        assert!(kept("aa", "aaa"));
        assert!(!kept("aaa", "aa"));
        assert!(!kept("skills\nfix that", "skills\nIt is Sunday.\nfix it"));
    }

    #[test]
    fn words_are_new_only_where_nothing_speaks_against_it() {
        let said = [false, true].map(|was_said| {
            [None, Some(Place::Past), Some(Place::Head)]
                .map(|behind| repeated(was_said, behind, false))
        });
        assert_eq!(said[0], [Said::Now; 3]);
        assert_eq!(said[1], [Said::Repeated, Said::Repeated, Said::Now]);
        assert_eq!(repeated(true, Some(Place::Past), true), Said::Again);
        assert_eq!(repeated(true, None, true), Said::Repeated);
    }
}
