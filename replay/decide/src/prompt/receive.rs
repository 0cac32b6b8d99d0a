//! A prompt comes in: which session it belongs to, and which of its messages are new.

use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use tslp_core::capture;
use tslp_core::event::{
    ContentKind, Event, Fork, History, MessageRef, PromptMessages, PromptReceived,
    SideRequestReceived,
};
use tslp_core::hash::{ArtifactHash, MessageKey, TranscriptHash};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::message::{Attempt, Role};
use tslp_core::place;
use tslp_core::policy::{HistoryChoice, Policy};
use tslp_core::read_message::ReadMessage;
use tslp_core::request::Request;
use tslp_projections::sessions::SessionPosition;

/// A recorded prompt: its place among the conversations, and its new messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPrompt {
    /// The events to append.
    pub events: Vec<Event>,
    /// The prompt's episode.
    pub episode: EpisodeId,
    /// The prompt's session.
    pub session: SessionId,
    /// Whether the current prompt's messages are new.
    pub repetition: PromptRepetition,
    /// User messages whose code may be a new paste: their indices in the request.
    pub new_user_messages: Vec<usize>,
    /// The key by which each message of the request is recognised when it is sent again; `None` for system messages.
    pub keys: Vec<Option<MessageKey>>,
    /// The number of messages that the session's conversation had before, without system messages.
    pub known_length: u32,
    /// The working folder that its new messages state.
    pub folder: Option<String>,
    /// The number of messages at the conversation's start that the request leaves out: 0, unless a recorded prompt is retraced.
    pub omitted_prefix: u32,
}

impl ReceivedPrompt {
    /// Whether the conversation begins with the message at this index of the request.
    #[must_use]
    pub fn opens_with(&self, request: &Request, index: usize) -> bool {
        let speaks = |role| matches!(role, Role::User | Role::Assistant | Role::Tool);
        let mut before = request.messages[..index].iter();
        self.omitted_prefix == 0 && !before.any(|message| speaks(message.role))
    }
}

/// Whether the current prompt's messages were sent before: clients send them again with each step of an agent's loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptRepetition {
    /// Not on record, so sent for the first time: directives and code act.
    First,
    /// Sent before, word for word, and a new conversation that begins alike can't be distinguished from a request for another
    /// reply: directives act, code acts as in [`Regenerated`](Self::Regenerated).
    Ambiguous,
    /// Sent before, and another reply is asked for: code acts again only where nothing has changed since.
    Regenerated,
    /// Sent before and acted on: a reply follows them, or the request is a retry.
    Answered,
}

/// Records a prompt.
#[must_use]
pub fn receive(view: &StateView<'_>, request: &Request) -> ReceivedPrompt {
    let conversation = Conversation::of(request);
    // A retry of a prompt without a reply is the same episode: recording it again would count its code and directives twice.
    if request.attempt == Attempt::Retry
        && let Some(open) = view.state.sessions().open_prompt(conversation.whole)
    {
        return ReceivedPrompt {
            events: Vec::new(),
            episode: open.episode,
            session: open.session,
            repetition: PromptRepetition::Answered,
            new_user_messages: Vec::new(),
            keys: conversation.message_keys(request.messages.len()),
            known_length: u32::try_from(conversation.older_count()).unwrap_or(u32::MAX),
            folder: None,
            omitted_prefix: 0,
        };
    }
    record_prompt(view, request, &conversation)
}

fn record_prompt(
    view: &StateView<'_>,
    request: &Request,
    conversation: &Conversation<'_>,
) -> ReceivedPrompt {
    let belonging = choose_session(view, request, conversation);
    let repetition = prompt_repetition(view, conversation, &belonging);
    let known = RecordedPrefix::longest(view, conversation);
    let known_length = known
        .filter(|known| Some(known.session) == belonging.session())
        .map_or(0, |known| known.length);
    // Messages that went to a model before were recorded then.
    let recorded = known.map_or(0, |known| known.length as usize);
    let episode = view.next_episode();
    let (session, fork) = match belonging {
        SessionChoice::Continues(session) => (session, None),
        SessionChoice::Forks(fork) => (view.next_session(), Some(fork)),
        SessionChoice::Starts => (view.next_session(), None),
    };
    let mut recorder = Recorder::new(view);
    let (mut older, mut current) = (Vec::new(), Vec::new());
    let (mut new_user_messages, mut folder) = (Vec::new(), None);
    for (position, spoken) in conversation.messages.iter().enumerate() {
        // Also by its bytes, because some clients rewrite or shorten their history: an older message that is on record says nothing
        // new, wherever it was said. A client's own is named again in front of an unknown conversation: what is left out there was
        // said by somebody, and tells that the conversation doesn't begin here.
        let is_clients = known.is_none() && spoken.role == Role::Other;
        let is_known = || {
            let is_held = !is_clients && view.vault_holds(spoken.content);
            position < recorded || spoken.text.is_empty() || is_held
        };
        if spoken.age == MessageAge::Older && is_known() {
            continue;
        }
        let has_acted = spoken.age == MessageAge::Current
            && repetition == PromptRepetition::Answered
            && is_known();
        if spoken.role == Role::User && !has_acted {
            new_user_messages.push(spoken.index);
        }
        // What people type or paste names folders, too.
        let knows = view
            .state
            .places()
            .working_folder(belonging.session().unwrap_or_default());
        folder = match spoken.role {
            Role::User if folder.is_some() || knows.is_some() => {
                let parts = capture::foreign_parts(spoken.text).into_iter();
                let mut stated =
                    parts.filter_map(|it| place::stated_folder(&spoken.text[it.range]));
                stated.next_back().or(folder)
            }
            Role::User | Role::Other => place::stated_folder(spoken.text).or(folder),
            _ => folder,
        };
        recorder.store_as(spoken.content, ContentKind::Message, spoken.text.as_bytes());
        let messages = match spoken.age {
            MessageAge::Older => &mut older,
            MessageAge::Current => &mut current,
        };
        messages.push(MessageRef {
            role: spoken.role,
            key: spoken.key,
            content: spoken.content,
        });
    }
    let system = record_system(&mut recorder, request);
    let system_before = belonging
        .session()
        .and_then(|it| view.state.sessions().system(it));
    let is_new = fork.is_some() || system != system_before;
    let mut systems = request
        .messages
        .iter()
        .filter(|it| it.role == Role::System && is_new);
    let folder = folder.or_else(|| systems.find_map(|it| place::stated_folder(it.recorded())));
    recorder.push(Event::PromptReceived(PromptReceived {
        session_name: request.session_name.clone(),
        fork,
        transcript: conversation.whole,
        length: conversation.length(),
        model: request.model.clone(),
        system,
        messages: PromptMessages::new(older, &current),
        tools: request.tools,
    }));
    ReceivedPrompt {
        events: recorder.into_events(),
        episode,
        session,
        repetition,
        new_user_messages,
        keys: conversation.message_keys(request.messages.len()),
        known_length,
        folder: folder.map(Into::into),
        omitted_prefix: 0,
    }
}

/// Records the text of the system messages, joined by a blank line; `None` if there is no text.
fn record_system(recorder: &mut Recorder<'_>, request: &Request) -> Option<ArtifactHash> {
    let mut system = request
        .messages
        .iter()
        .filter(|message| message.role == Role::System);
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

/// The session whose conversation a request repeats below the same system message, and how its messages are recognised.
pub fn repeated_conversation(
    view: &StateView<'_>,
    request: &Request,
) -> Option<(SessionId, Vec<Option<MessageKey>>)> {
    let conversation = Conversation::of(request);
    let session = RecordedPrefix::longest(view, &conversation)?.session;
    let system = record_system(&mut Recorder::new(view), request);
    let is_same = view.state.sessions().system(session) == system;
    is_same.then(|| (session, conversation.message_keys(request.messages.len())))
}

/// Records a request that a client makes for itself, such as for a title, and that belongs to no session.
#[must_use]
pub fn receive_side_request(view: &StateView<'_>, request: &Request) -> (EpisodeId, Vec<Event>) {
    let episode = view.next_episode();
    let received = Event::SideRequestReceived(SideRequestReceived {
        model: request.model.clone(),
        messages: u32::try_from(request.messages.len()).unwrap_or(u32::MAX),
        transcript: Conversation::of(request).whole,
    });
    (episode, Vec::from([received]))
}

/// Whether a message belongs to the current prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageAge {
    /// Before the current prompt.
    Older,
    /// Part of the current prompt.
    Current,
}

/// One message of the conversation, without what the ledger may not hold.
struct TranscriptMessage<'r> {
    index: usize,
    role: Role,
    age: MessageAge,
    text: &'r str,
    key: MessageKey,
    /// The address of its text in the Vault.
    content: ArtifactHash,
}

/// A request's messages as a chain of hashes, system messages left out.
struct Conversation<'r> {
    messages: Vec<TranscriptMessage<'r>>,
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
                conversation.add_message(
                    index,
                    message,
                    if index < current_from {
                        MessageAge::Older
                    } else {
                        MessageAge::Current
                    },
                );
            }
        }
        conversation
    }

    fn add_message(&mut self, index: usize, message: &'r ReadMessage, age: MessageAge) {
        self.whole = self.whole.extended(message.key());
        self.after_messages.push(self.whole);
        self.messages.push(TranscriptMessage {
            index,
            role: message.role,
            age,
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
    fn message_keys(&self, messages: usize) -> Vec<Option<MessageKey>> {
        let mut keys = alloc::vec![None; messages];
        for spoken in &self.messages {
            keys[spoken.index] = Some(spoken.key);
        }
        keys
    }

    fn older_count(&self) -> usize {
        self.messages.len() - self.current_messages().len()
    }

    /// The messages of the current prompt.
    fn current_messages(&self) -> &[TranscriptMessage<'r>] {
        let from = self
            .messages
            .partition_point(|spoken| spoken.age == MessageAge::Older);
        &self.messages[from..]
    }
}

/// The session that a prompt belongs to.
#[derive(Clone, Copy)]
enum SessionChoice {
    Continues(SessionId),
    Forks(Fork),
    Starts,
}

impl SessionChoice {
    /// The existing session that the prompt continues or branches off from.
    const fn session(&self) -> Option<SessionId> {
        match self {
            Self::Continues(session) => Some(*session),
            Self::Forks(fork) => Some(fork.session),
            Self::Starts => None,
        }
    }
}

fn choose_session(
    view: &StateView<'_>,
    request: &Request,
    conversation: &Conversation<'_>,
) -> SessionChoice {
    // A client that names its session knows best; otherwise the recorded conversation with the longest common part decides,
    // and only without one the last exchange, which different conversations may share.
    if let Some(name) = &request.session_name {
        return view
            .state
            .sessions()
            .session_named(name)
            .map_or(SessionChoice::Starts, SessionChoice::Continues);
    }
    if let Some(session) = request.continues {
        return SessionChoice::Continues(session);
    }
    let known = RecordedPrefix::longest(view, conversation);
    if let Some(known) = known.filter(|known| known.is_end) {
        return SessionChoice::Continues(known.session);
    }
    // What comes after a session's last exchange goes on with it, whatever the client has made of older messages.
    let last = conversation.messages.last();
    let goes_on = known.is_none() || last.is_some_and(|last| last.role != Role::Assistant);
    let by_tail = || session_by_tail(view, conversation);
    let by_tail = goes_on.then(by_tail).flatten();
    match (known, by_tail) {
        (Some(known), tail) if tail != Some(known.session) => SessionChoice::Forks(Fork {
            session: known.session,
            messages: known.length,
        }),
        (_, Some(session)) => SessionChoice::Continues(session),
        (_, None) => SessionChoice::Starts,
    }
}

/// The first messages of a conversation that a session on record has sent to the model.
#[derive(Clone, Copy)]
struct RecordedPrefix {
    session: SessionId,
    /// The number of messages.
    length: u32,
    /// Whether the session can go on from there.
    is_end: bool,
}

impl RecordedPrefix {
    fn longest(view: &StateView<'_>, conversation: &Conversation<'_>) -> Option<Self> {
        let after_reply = Self::after_reply(view, conversation);
        let after_prompt = Self::after_prompt(view, conversation);
        let known = after_reply.into_iter().chain(after_prompt);
        known.max_by_key(|known| known.length)
    }

    fn after_reply(view: &StateView<'_>, conversation: &Conversation<'_>) -> Option<Self> {
        let mut points = conversation.after_replies.iter().rev();
        let point =
            points.find_map(|(transcript, _)| view.state.sessions().session_at(*transcript))?;
        Some(Self {
            session: point.session,
            length: point.length,
            is_end: point.place == SessionPosition::Head,
        })
    }

    /// After a session's last prompt: its reply broke off, the user stopped it, or the client has changed it.
    fn after_prompt(view: &StateView<'_>, conversation: &Conversation<'_>) -> Option<Self> {
        let (_, before) = conversation.after_messages.split_last()?;
        let mut before = before.iter().rev();
        let last = before.find_map(|transcript| view.state.sessions().last_prompt(*transcript))?;
        Some(Self {
            session: last.session,
            length: last.length,
            is_end: !last.in_flight,
        })
    }
}

/// The session that ends with an exchange of this conversation. Clients that rebuild the context before the history in each
/// turn still keep the last exchange in it.
fn session_by_tail(view: &StateView<'_>, conversation: &Conversation<'_>) -> Option<SessionId> {
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
        view.state
            .sessions()
            .with_tail(TranscriptHash::of_exchange(user.key, reply.key))
            .or_else(|| session_by_reply(view, user, reply))
    })
}

/// The session that gave this reply to this prompt, where the prompt is kept. Clients that add something to the current
/// prompt alone (aider its rules at the end, Qwen Code the date at the start) send it back without the addition.
fn session_by_reply(
    view: &StateView<'_>,
    user: &TranscriptMessage<'_>,
    reply: &TranscriptMessage<'_>,
) -> Option<SessionId> {
    let (session, exchange) = view.state.sessions().with_reply(reply.key)?;
    let said = view.artifact_content(*exchange.user.last()?)?;
    let kept = user.text.trim().as_bytes();
    (differs_by_one_piece(kept, said.trim_ascii()) && !kept.is_empty()).then_some(session)
}

/// Whether `kept` is `said` with at most one contiguous piece taken out.
fn differs_by_one_piece(kept: &[u8], said: &[u8]) -> bool {
    let alike = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let front = kept.iter().zip(said).take_while(alike).count();
    let back = kept.iter().rev().zip(said.iter().rev());
    kept.len() <= said.len() && front + back.take_while(alike).count() >= kept.len()
}

fn prompt_repetition(
    view: &StateView<'_>,
    conversation: &Conversation<'_>,
    belonging: &SessionChoice,
) -> PromptRepetition {
    let current = conversation.current_messages();
    let Some(words) = current.first().filter(|first| first.role == Role::User) else {
        return PromptRepetition::First;
    };
    let roles = current.iter().map(|spoken| spoken.role);
    if is_answered(roles, view.vault_holds(words.content)) {
        return PromptRepetition::Answered;
    }
    let was_prompted = |session| {
        view.state
            .sessions()
            .was_prompted(session, conversation.length(), words.content)
    };
    repetition_at_position(
        view.vault_holds_message(words.content),
        position_after_older(view, conversation),
        belonging.session().is_some_and(was_prompted),
    )
}

/// Whether a prompt that isn't answered was sent before.
///
/// `was_said`: its text is that of a message on record. `after`: the position of the reply that it follows, if all older
/// messages are one session's own. `was_prompted`: it was that session's prompt at this very point.
#[must_use]
pub fn repetition_at_position(
    was_said: bool,
    after: Option<SessionPosition>,
    was_prompted: bool,
) -> PromptRepetition {
    match after {
        Some(_) if was_prompted => PromptRepetition::Regenerated,
        // At the end of a conversation a prompt is new, even with the text of an older one ("go on").
        Some(SessionPosition::Head) => PromptRepetition::First,
        _ if was_said => PromptRepetition::Ambiguous,
        _ => PromptRepetition::First,
    }
}

/// Whether the current prompt, given by its messages' roles, already holds a reply to its first message. A request may
/// end with a message of the model's because the client began the reply itself; then a prompt that isn't known is new.
#[must_use]
pub fn is_answered(current: impl Iterator<Item = Role>, is_known: bool) -> bool {
    let mut rest = current.skip(1).peekable();
    while let Some(role) = rest.next() {
        if role == Role::Assistant && (is_known || rest.peek().is_some()) {
            return true;
        }
    }
    false
}

/// How the older messages of a prompt are treated.
#[must_use]
pub const fn history_mode(policy: &Policy) -> History {
    match policy.history {
        HistoryChoice::Window => History::Window,
        HistoryChoice::Auto | HistoryChoice::Client => History::Client,
    }
}

/// The position in its session of the reply that ends the older messages, if the ledger knows every one of them as that
/// session's own.
fn position_after_older(
    view: &StateView<'_>,
    conversation: &Conversation<'_>,
) -> Option<SessionPosition> {
    let older = conversation.older_count();
    conversation
        .after_replies
        .iter()
        .find(|(_, length)| *length as usize == older)
        .and_then(|(transcript, _)| view.state.sessions().session_at(*transcript))
        .map(|point| point.place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_piece_left_out() {
        let kept = |kept: &str, said: &str| differs_by_one_piece(kept.as_bytes(), said.as_bytes());
        assert!(kept("fix it", "fix it\nUse these formats."));
        assert!(kept("skills\nfix it", "skills\nIt is Sunday.\nfix it"));
        assert!(kept("aa", "aaa"));
        assert!(!kept("aaa", "aa"));
        assert!(!kept("skills\nfix that", "skills\nIt is Sunday.\nfix it"));
    }

    /// Words count as new only if nothing shows that they were said before.
    #[test]
    fn new_words() {
        let said = [false, true].map(|was_said| {
            [
                None,
                Some(SessionPosition::Past),
                Some(SessionPosition::Head),
            ]
            .map(|behind| repetition_at_position(was_said, behind, false))
        });
        assert_eq!(said[0], [PromptRepetition::First; 3]);
        assert_eq!(
            said[1],
            [
                PromptRepetition::Ambiguous,
                PromptRepetition::Ambiguous,
                PromptRepetition::First
            ]
        );
        assert_eq!(
            repetition_at_position(true, Some(SessionPosition::Past), true),
            PromptRepetition::Regenerated
        );
        assert_eq!(
            repetition_at_position(true, None, true),
            PromptRepetition::Ambiguous
        );
    }
}
