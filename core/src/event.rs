//! The one event enum of the ledger: observations (what crossed the boundary) and decisions (what was concluded).
//!
//! An event is declared once: its stored layout (rkyv), its JSON (serde) and its arbitrary values (`arbitrary`) are derived here,
//! and each type that means more than its bytes is checked where it is read (`stored`). The numbers of the kinds, and from the
//! first release on the layouts of types that have changed, belong to the `migrations` crate.

mod action;
mod named;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;

pub use action::{
    ActionJudged, ActionRequested, CallId, CapabilityChanged, GrantChange, LinkSeen,
    PolicyApproved, ToolOutcome, ToolRan,
};

use rkyv::rancor::{Fallible, Source};
use serde::{Deserialize, Serialize};

use crate::artifact::{Level, Origin, Transition, Version};
use crate::entity::{EntityId, Symbol};
use crate::extract::GrammarTag;
use crate::gate::{Completeness, GateReport};
use crate::goal::GoalChange;
use crate::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use crate::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use crate::message::{Role, Tools};
use crate::path::RelPath;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::record::{self, RecordKind, RecordStanding};
use crate::scope::ScopeChange;
use crate::slice::Span;
#[cfg(feature = "arbitrary")]
use crate::stored::few;
use crate::stored::{
    Archive, AsJson, Load, Meaningless, SharedBytes, Store, stored_words, text_or_base64,
};
use crate::words;

/// What all events have in common. It is in columns of the ledger, and in the hash chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Position; dense from 1.
    pub seq: Seq,
    /// When the edge handed it in.
    pub at: UnixMillis,
    /// The episode that it belongs to.
    pub episode: EpisodeId,
    /// The session of that episode; `SessionId(0)` outside of conversations.
    pub session: SessionId,
    /// Whether it is the last event of its step: what the engine did at once, on one occasion. Deep verification makes the
    /// decisions of one step after the other again.
    pub ends_step: bool,
}

impl Envelope {
    /// For a step of one event, outside of conversations.
    #[must_use]
    pub const fn outside(seq: Seq, at: UnixMillis) -> Self {
        Self {
            seq,
            at,
            episode: EpisodeId::OUTSIDE,
            session: SessionId(0),
            ends_step: true,
        }
    }
}

/// One row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Where and when.
    pub envelope: Envelope,
    /// What happened.
    pub event: Event,
}

impl Deref for Recorded {
    type Target = Envelope;

    fn deref(&self) -> &Envelope {
        &self.envelope
    }
}

macro_rules! events {
    (
        observations { $($(#[$observation_doc:meta])+ $observation:ident = $observation_name:literal,)+ }
        decisions { $($(#[$decision_doc:meta])+ $decision:ident = $decision_name:literal,)+ }
    ) => {
        events! {
            $($(#[$observation_doc])+ $observation = $observation_name,)+
            $($(#[$decision_doc])+ $decision = $decision_name,)+
        }

        impl EventKind {
            /// Whether it is concluded, and not observed: then deep verification makes it again.
            #[must_use]
            pub const fn is_decision(self) -> bool {
                match self {
                    $(Self::$observation => false,)+
                    $(Self::$decision => true,)+
                }
            }
        }
    };
    ($($(#[$doc:meta])+ $kind:ident = $name:literal,)+) => {
        /// What can happen.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind", content = "event")]
        pub enum Event {
            $($(#[$doc])+ #[serde(rename = $name)] $kind($kind),)+
        }

        words! {
            /// What kind an event is of.
            EventKind, "kind of event" { $($(#[$doc])+ $kind = $name,)+ }
        }

        impl Event {
            /// The event's kind.
            #[must_use]
            pub const fn kind(&self) -> EventKind {
                match self { $(Self::$kind(_) => EventKind::$kind,)+ }
            }

            /// An arbitrary event of a kind.
            ///
            /// # Errors
            /// Never in practice: where the bytes run out, what is left is empty.
            #[cfg(feature = "arbitrary")]
            pub fn arbitrary_of(
                kind: EventKind,
                u: &mut arbitrary::Unstructured<'_>,
            ) -> arbitrary::Result<Self> {
                Ok(match kind { $(EventKind::$kind => Self::$kind(u.arbitrary()?),)+ })
            }

            /// The event's name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                self.kind().as_str()
            }
        }
    };
}

events! {
    observations {
        /// The rules by which everything that follows is decided.
        RulesInForce = "rules_in_force",
        /// Bytes that the Vault didn't hold before.
        Content = "content",
        /// A prompt came in.
        PromptReceived = "prompt_received",
        /// A client asked the model for something outside of its conversation, such as a title.
        SideRequestReceived = "side_request_received",
        /// A piece of a reply's text, while the reply is still being streamed.
        ReplySegment = "reply_segment",
        /// A reply came to an end, good or bad.
        ReplyEnded = "reply_ended",
        /// A file was looked at and differs from what was seen there last.
        DiskObserved = "disk_observed",
        /// What a client calls by a path was found, or its working folder is stated.
        PlaceObserved = "place_observed",
        /// The user told the proxy to do something.
        DirectiveGiven = "directive_given",
        /// A shadow audit came to its end.
        AuditAnswered = "audit_answered",
        /// It turned out what a prompt cost the model server.
        PromptMeasured = "prompt_measured",
        /// A prompt is longer than what its model reads at once.
        WindowExceeded = "window_exceeded",
        /// A piece of what a reply holds besides the text and the calls that are judged.
        ReplyPart = "reply_part",
        /// A prompt went to the model.
        PromptSent = "prompt_sent",
        /// The user's check came to its end.
        CheckRan = "check_ran",
        /// A reply asks for a tool.
        ActionRequested = "action_requested",
        /// What came of an allowed call.
        ToolRan = "tool_ran",
        /// The Operator approved a policy profile.
        PolicyApproved = "policy_approved",
        /// The user brings another model's answer.
        ReplyImported = "reply_imported",
        /// A reply's text was meant to be calls of the client's tools.
        LostCallFound = "lost_call_found",
    }
    decisions {
        /// A block of code was found in a message.
        ArtifactCaptured = "artifact_captured",
        /// A captured block was, or was not, linked to entities.
        ArtifactResolved = "artifact_resolved",
        /// A version moved along one arrow of the state machine.
        Transitioned = "transitioned",
        /// Versions of one block became AUTHORITATIVE together.
        VersionsPromoted = "versions_promoted",
        /// A version stays PROPOSED.
        PromotionRefused = "promotion_refused",
        /// The model is asked after its reply whether the reply's code is complete.
        AuditAsked = "audit_asked",
        /// A client's path by another root than ours was recognised by its file's text, or couldn't be.
        PathResolved = "path_resolved",
        /// Something to tell the model and the user.
        NoticeIssued = "notice_issued",
        /// What was put into the client's own messages, or withheld from them, for the first time.
        PromptAmended = "prompt_amended",
        /// What the model was given to see.
        PromptComposed = "prompt_composed",
        /// The Guardian's decision on a call.
        ActionJudged = "action_judged",
        /// A grant was given, prolonged or taken back.
        CapabilityChanged = "capability_changed",
        /// A user's message repeats what the ledger knows as somebody else's.
        AuthorFound = "author_found",
        /// What a reply has its client do, as far as a budget counts it.
        WorkCounted = "work_counted",
        /// The user says which files a model may see.
        ScopeChanged = "scope_changed",
        /// The user says what the work is for.
        GoalChanged = "goal_changed",
        /// A statement is kept for the project, proposed, or kept no longer.
        RecordChanged = "record_changed",
        /// What a conversation held so far goes to no model any more.
        ContextCleared = "context_cleared",
        /// Gate A refuses a reply's code before the client has it, and the reply is asked for once more, or was.
        DraftRefused = "draft_refused",
    }
}

/// The rules by which everything that follows is decided. Recorded only where they differ from those before, and only
/// together with something that they decide.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct RulesInForce {
    /// The version of tslp.
    pub program: String,
    /// The version of its rules ([`crate::RULES_VERSION`]).
    pub rules: u32,
    /// What reads code: its grammars, by language, and the hashes of `symbols.json` and `clients.json`, by name.
    pub grammars: Vec<GrammarTag>,
    /// Hash of its pattern data (`symbols.json`).
    pub patterns: ArtifactHash,
    /// What a person configured. Its token budget is the one of the moment; each prompt records its own.
    #[rkyv(with = AsJson)]
    pub policy: Policy,
}

stored_words! {
    /// What some bytes of the Vault are.
    ContentKind, "content kind" {
        /// A message's text as the client sent it.
        Message = "message",
        /// A piece of a reply's text.
        Reply = "reply",
        /// Code that isn't a verbatim part of one stored message.
        Code = "code",
        /// Arguments of a tool call.
        ToolArguments = "tool_arguments",
        /// Text of the proxy's own in the client's messages.
        Injection = "injection",
        /// A message of a prompt as it was sent, or what is around its messages: JSON that names the texts in it.
        PromptPiece = "prompt_piece",
        /// What a tool printed, and what the Guardian judged by. Never code, never a message's.
        Evidence = "evidence",
    }
}

stored_words! {
    /// Who said a text first, by the record.
    Author, "author" {
        /// The Operator.
        User = "user",
        /// The model, in a reply.
        Model = "model",
        /// The model, in a thought, or in another choice of a reply.
        Thought = "thought",
        /// The model, in the arguments of a tool call.
        Call = "call",
        /// A tool: what it returned or printed.
        Tool = "tool",
    }
}

/// A user's message repeats what the ledger knows as somebody else's: directives there did nothing, and code there is a
/// proposal.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AuthorFound {
    /// The message's text.
    pub message: ArtifactHash,
    /// Who said it first.
    pub author: Author,
    /// The text that it repeats; of several the one with the most of its lines.
    pub source: ArtifactHash,
    /// The episode that recorded that text: the parent of a subagent's.
    pub said_in: EpisodeId,
    /// How many of the message's lines are repeated.
    pub lines: u32,
    /// How many lines it has.
    pub of: u32,
    /// Whether a conversation opens with it, and it is the argument of a call: the model's subagent.
    pub opens_subagent: bool,
}

/// Bytes that enter the Vault. Each is recorded once; later events name it by hash.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Content {
    /// Address: BLAKE3 of `bytes`.
    pub hash: ArtifactHash,
    /// What they are.
    pub kind: ContentKind,
    /// The bytes, with credentials redacted; shared, because they are needed until they can be read from the ledger.
    #[rkyv(with = SharedBytes)]
    #[serde(flatten, with = "text_or_base64")]
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::bytes))]
    pub bytes: Arc<[u8]>,
}

/// One message by reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct MessageRef {
    /// Who speaks.
    pub role: Role,
    /// How the message is recognised when it is sent again.
    pub key: MessageKey,
    /// Its text in the Vault.
    pub content: ArtifactHash,
}

/// Where a session's history branches off another's, after an edited or regenerated turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Fork {
    /// The session whose history is shared.
    pub session: SessionId,
    /// How many messages of the conversation are shared.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub messages: u32,
}

/// The messages of a prompt: older ones, which are context of the client's own, and then the prompt itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Store, Serialize)]
pub struct PromptMessages {
    messages: Vec<MessageRef>,
    older: u32,
}

impl PromptMessages {
    /// Older messages and the prompt itself.
    ///
    /// # Panics
    /// With more than four billion older messages: no request holds so many.
    #[must_use]
    pub fn new(older: Vec<MessageRef>, current: &[MessageRef]) -> Self {
        let count = u32::try_from(older.len()).expect("a request's bytes are bounded");
        let mut messages = older;
        messages.extend_from_slice(current);
        Self {
            messages,
            older: count,
        }
    }

    /// Messages of which so many, in front, are older than the prompt.
    fn read(messages: Vec<MessageRef>, older: u32) -> Result<Self, Meaningless> {
        if older as usize <= messages.len() {
            Ok(Self { messages, older })
        } else {
            Err(Meaningless::Older {
                older,
                messages: messages.len(),
            })
        }
    }

    /// How many messages are older than the prompt.
    #[must_use]
    pub const fn older_count(&self) -> usize {
        self.older as usize
    }

    /// The messages that are older than the prompt.
    #[must_use]
    pub fn older(&self) -> &[MessageRef] {
        &self.messages[..self.older_count()]
    }

    /// The prompt itself.
    #[must_use]
    pub fn current(&self) -> &[MessageRef] {
        &self.messages[self.older_count()..]
    }
}

impl Deref for PromptMessages {
    type Target = [MessageRef];

    fn deref(&self) -> &[MessageRef] {
        &self.messages
    }
}

impl<D> Load<PromptMessages, D> for ArchivedPromptMessages
where
    D: Fallible + ?Sized,
    D::Error: Source,
{
    fn deserialize(&self, deserializer: &mut D) -> Result<PromptMessages, D::Error> {
        let messages = self.messages.deserialize(deserializer)?;
        PromptMessages::read(messages, self.older.to_native()).map_err(Source::new)
    }
}

impl<'de> Deserialize<'de> for PromptMessages {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            messages: Vec<MessageRef>,
            older: u32,
        }
        let Members { messages, older } = Members::deserialize(deserializer)?;
        Self::read(messages, older).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for PromptMessages {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::new(
            u.arbitrary()?,
            &u.arbitrary::<Vec<MessageRef>>()?,
        ))
    }
}

/// A prompt came in: opens an episode.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptReceived {
    /// The session's name, if the client gave one (`x-tslp-session`).
    pub session_name: Option<String>,
    /// Set when a new session starts from another's history.
    pub fork: Option<Fork>,
    /// The conversation up to and including this prompt, as the client sent it, system messages left out.
    pub transcript: TranscriptHash,
    /// How many messages that is.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub length: u32,
    /// The model that the client asked for.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub model: String,
    /// Texts of the system messages, joined.
    pub system: Option<ArtifactHash>,
    /// Messages that the ledger didn't hold before, and the current prompt's, oldest first. System messages are left
    /// out.
    #[serde(flatten)]
    pub messages: PromptMessages,
    /// Whether the client offers tools to the model.
    pub tools: Tools,
}

/// A request outside of a conversation, such as for its title: it goes out as it came, and nothing in it or in its reply
/// becomes true.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SideRequestReceived {
    /// The model that the client asked for.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub model: String,
    /// How many messages it has.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub messages: u32,
    /// Hash of its messages' texts, which are not stored: clients put a conversation into them that is on record.
    pub transcript: TranscriptHash,
}

/// A piece of a reply's text.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ReplySegment {
    /// The text in the Vault.
    pub content: ArtifactHash,
}

stored_words! {
    /// What a reply may hold besides the text and the calls of its first choice.
    PartKind, "kind of a reply's part" {
        /// What the model thought before it spoke (`reasoning_content`, `reasoning`, `thinking`).
        Reasoning = "reasoning",
        /// Why the model wouldn't answer (`refusal`).
        Refusal = "refusal",
        /// The text of another choice than the first.
        OtherText = "other_text",
        /// The tool calls of another choice than the first, each as its name and its arguments.
        OtherToolCalls = "other_tool_calls",
        /// What the upstream said instead of a reply, or in the middle of one.
        Error = "error",
    }
}

/// A piece of what a reply holds besides the text and the calls that are judged. The pieces of one kind and choice are one
/// text. Nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ReplyPart {
    /// What it is.
    pub kind: PartKind,
    /// The choice that it belongs to.
    pub choice: u32,
    /// The text in the Vault.
    pub content: ArtifactHash,
    /// Bytes that came after it and were left out, because there were too many.
    pub left_out_bytes: u64,
}

/// How a reply ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ReplyOutcome {
    /// The upstream said that it was done.
    Completed,
    /// The client closed its connection first.
    ClientGone,
    /// The upstream's connection broke, timed out, or its stream carried an error.
    UpstreamBroken,
    /// The upstream answered with this HTTP status instead of a reply.
    UpstreamRefused(u16),
    /// The upstream could not be reached.
    UpstreamUnreachable,
    /// The proxy itself stopped first; noted when it started again.
    Interrupted,
    /// The proxy sent the prompt to no model, because a budget is used up or a loop was found.
    Withheld,
}

/// A tool call in a reply, by reference.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ToolCallRef {
    /// The tool's name.
    pub name: String,
    /// Its arguments' JSON text in the Vault.
    pub arguments: ArtifactHash,
}

/// A reply came to an end.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ReplyEnded {
    /// How it ended. Only a completed reply can advance anything.
    pub outcome: ReplyOutcome,
    /// The upstream's `finish_reason`.
    pub finish_reason: Option<String>,
    /// How the whole reply is recognised when the client sends it back as history.
    pub key: MessageKey,
    /// Every segment of the text in order, also those that had their own event.
    pub segments: Vec<ArtifactHash>,
    /// The reply's tool calls.
    pub tool_calls: Vec<ToolCallRef>,
}

stored_words! {
    /// Why a file could not be read.
    ReadFailure, "read failure" {
        /// No permission.
        Denied = "denied",
        /// A directory, FIFO, socket or device.
        NotAFile = "not_a_file",
        /// A symbolic link or `..` leads out of the workspace.
        Escapes = "escapes_workspace",
        /// Larger than the configured limit.
        TooLarge = "too_large",
        /// Changed while it was read, again and again.
        Unsteady = "unsteady",
        /// The file system didn't answer in time.
        TimedOut = "timed_out",
        /// Any other error of the operating system.
        Failed = "failed",
    }
}

/// What disk holds of one tracked symbol.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Archive, Store, Load, Serialize, Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DiskSlice {
    /// The symbol that was looked for.
    pub symbol: Symbol,
    /// Its slice's hash; `None` if the file doesn't define it.
    pub slice: Option<SliceHash>,
}

/// What was found at a path.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum DiskFinding {
    /// No such file. Not a divergence (spec §15.4).
    Missing,
    /// A readable file.
    File(DiskFile),
    /// It exists and could not be read.
    Unreadable(ReadFailure),
}

/// A readable file's fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DiskFile {
    /// Hash of the whole file's canonical form.
    pub whole: SliceHash,
    /// The symbols looked for, sorted by symbol; empty if the file has no grammar or could not be parsed.
    pub slices: Vec<DiskSlice>,
    /// How many top-level definitions the file has.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub definitions: u32,
    /// The grammar that cut the slices; `None` if only the whole file was hashed.
    pub grammar: Option<GrammarTag>,
    /// When it was changed last, by its file system; 0 if nobody knows.
    pub changed_at: UnixMillis,
}

/// Who changed a file, by the time of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct FileAuthor {
    /// The model if a call that was out then names the file, nobody if none does, and the user if no call that can write was out.
    pub origin: Origin,
    /// The reply that made the call; [`EpisodeId::OUTSIDE`] for the user.
    pub reply: EpisodeId,
}

impl FileAuthor {
    /// The user, by their own hand.
    pub const USER: Self = Self {
        origin: Origin::User,
        reply: EpisodeId::OUTSIDE,
    };
}

/// A file was looked at and differs from what was seen there last.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DiskObserved {
    /// The file.
    pub path: RelPath,
    /// What was found there.
    pub finding: DiskFinding,
    /// Who made it so.
    pub author: FileAuthor,
}

stored_words! {
    /// What is known of a path that a client uses.
    PlaceKind, "kind of place" {
        /// Relative paths of the conversation are meant from it.
        WorkingFolder = "working_folder",
        /// It is a link, or another name, of what is beneath the root.
        Beneath = "beneath",
        /// It is on this machine, and not beneath the root.
        Elsewhere = "elsewhere",
        /// This machine doesn't have it: the client sees another file system.
        Nowhere = "nowhere",
        /// One file below it was recognised by its text; a second one makes it [`Beneath`](Self::Beneath).
        MatchedOnce = "matched_once",
        /// An edit of it wasn't judged, and the user was told.
        Unseen = "unseen",
    }
}

/// Where a look found what a client calls by a path. Recorded where it says something new.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PlaceObserved {
    /// A file or a folder: absolute, or beneath the root.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub written: String,
    /// What it is.
    pub place: PlaceKind,
    /// What is meant by it beneath the root; empty is the root itself.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub ours: String,
}

/// An edit or a listing names a file by a root of its client's: a file of ours was recognised, since its text holds what the edit
/// replaces or is what the client was shown, or none was, and the edit isn't judged.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PathResolved {
    /// The client's folder, absolute; the whole path if no file was recognised.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub theirs: String,
    /// The same folder beneath our root; empty is the root itself.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::name))]
    pub ours: String,
    /// The file.
    pub file: Option<RelPath>,
}

stored_words! {
    /// What a user can tell the proxy.
    Verb, "verb" {
        /// Take what disk holds as the write-head's word; `tslp adopt` is recorded as one, too.
        Accept = "accept",
        /// Drop the proposals for an entity.
        Reject = "reject",
        /// Promote a proposal that passed gate A, also over STALE.
        Confirm = "confirm",
        /// Grant tools a capability for some minutes.
        Allow = "allow",
        /// Take a grant back.
        Revoke = "revoke",
        /// End what tools are running, and run no more.
        Stop = "stop",
        /// Let tools run again.
        Resume = "resume",
        /// Anything else: answered with a notice.
        Unknown = "unknown",
        /// Show no model these files.
        Off = "off",
        /// Show them again.
        On = "on",
        /// Show these files whole, and nothing else.
        Lock = "lock",
        /// Take locks away.
        Unlock = "unlock",
        /// What follows in the message is another model's answer.
        External = "external",
        /// What the work is for.
        Goal = "goal",
        /// Keep a statement for the project.
        Note = "note",
        /// Keep it no longer.
        Forget = "forget",
        /// Leave out what the conversation held so far.
        Clear = "clear",
        /// What a client's hook tells of its conversation; nobody types it.
        Signal = "signal",
    }
}

impl Verb {
    /// Whether it lets tools do more than before.
    #[must_use]
    pub const fn grants(self) -> bool {
        matches!(self, Self::Allow | Self::Resume)
    }

    /// Whether it is about tools, so that all that follows it is one text. What follows the others are paths and entities.
    #[must_use]
    pub const fn is_about_tools(self) -> bool {
        match self {
            Self::Allow | Self::Revoke | Self::Stop | Self::Resume => true,
            Self::Accept
            | Self::Reject
            | Self::Confirm
            | Self::Off
            | Self::On
            | Self::Lock
            | Self::Unlock
            | Self::External
            | Self::Goal
            | Self::Note
            | Self::Forget
            | Self::Clear
            | Self::Signal
            | Self::Unknown => false,
        }
    }

    /// Whether it is about what is kept for the project.
    #[must_use]
    pub const fn is_about_records(self) -> bool {
        matches!(self, Self::Note | Self::Forget)
    }

    /// Whether it is about a record with this target: `accept #key` is.
    #[must_use]
    pub fn concerns_record(self, target: &str) -> bool {
        let decides = matches!(self, Self::Accept | Self::Confirm | Self::Reject);
        self.is_about_records() || decides && record::parse_key(target).is_some()
    }

    /// How it changes what a model may see, if it does.
    #[must_use]
    pub const fn scope_change(self) -> Option<ScopeChange> {
        match self {
            Self::Off => Some(ScopeChange::Off),
            Self::On => Some(ScopeChange::On),
            Self::Lock => Some(ScopeChange::Lock),
            Self::Unlock => Some(ScopeChange::Unlock),
            _ => None,
        }
    }
}

/// The user told the proxy to do something (a line `@tslp VERB TARGET`).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DirectiveGiven {
    /// What to do.
    pub verb: Verb,
    /// What to do it to, as it was written.
    pub target: String,
}

stored_words! {
    /// What says which file a block of code belongs to; stronger kinds are greater (engine: "Resolution").
    PathEvidence, "path evidence" {
        /// Nothing.
        None = "none",
        /// The only path in the sentence before the fence. Enough for the user's own code, not for the model's.
        SentenceBefore = "sentence_before",
        /// A `filepath:` comment, or a lone path comment, on the block's first line.
        FirstLineComment = "first_line_comment",
        /// A path on the line directly before the fence, or the only one in a heading or a sentence that leads to the fence.
        LineBefore = "line_before",
        /// The fence's info string.
        InfoString = "info_string",
        /// An edit format's header or a tool call's argument.
        Header = "header",
        /// Nothing but the code itself: it defines what one file defines that the model was shown, or edits a text in it.
        Shown = "shown",
    }
}

stored_words! {
    /// The family of formats that a block of code is written in (`formats`).
    Format, "format" {
        /// A fenced block, or a pair of tags used as one.
        Fence = "fence",
        /// A SEARCH/REPLACE block, in one of its variants.
        SearchReplace = "search_replace",
        /// A unified diff.
        UnifiedDiff = "unified_diff",
        /// An `apply_patch` envelope.
        ApplyPatch = "apply_patch",
        /// A file in tags that a client or a model put around it (`<file_content path="…">`, `<write_to_file>`).
        Tags = "tags",
        /// A tool call's arguments.
        ToolCall = "tool_call",
        /// A tool call written as text.
        LeakedToolCall = "leaked_tool_call",
        /// A file as it is on disk.
        Disk = "disk",
    }
}

impl Format {
    /// Whether an agent wrote it, and may go on with its next call.
    #[must_use]
    pub fn is_agents(self) -> bool {
        matches!(self, Self::ToolCall | Self::Disk)
    }
}

stored_words! {
    /// Whether a block is a whole file or a part of one.
    Extent, "extent" {
        /// All of the file.
        WholeFile = "whole_file",
        /// Some definitions of it.
        Fragment = "fragment",
    }
}

/// Code that is a verbatim part of a stored message, so that its bytes aren't stored again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Within {
    /// The content that holds it.
    pub container: ArtifactHash,
    /// Where in the container.
    #[serde(flatten)]
    pub span: Span,
}

/// An edit and what it was applied to.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct EditRef {
    /// The edit as it was written, block by block, in the Vault.
    pub texts: Vec<ArtifactHash>,
    /// The authoritative versions that it was applied to; empty if it doesn't apply, or makes a new file.
    pub bases: Vec<VersionId>,
}

/// A block of code was found in a message.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ArtifactCaptured {
    /// Names this finding.
    pub capture: CaptureId,
    /// Who supplied it.
    pub origin: Origin,
    /// The block's bytes in the Vault.
    pub artifact: ArtifactHash,
    /// The position of the bytes; `None` if they have a content event of their own.
    pub within: Option<Within>,
    /// The family that the block is written in.
    pub format: Format,
    /// Set if the block is an edit; `artifact` is then the text that it makes, or the edit's own where it doesn't apply.
    pub edit: Option<EditRef>,
    /// The language that the fence named.
    pub language: Option<String>,
    /// What named the file.
    pub evidence: PathEvidence,
    /// The file, if a usable path was named.
    pub path: Option<RelPath>,
    /// Whether all of it is there.
    pub completeness: Completeness,
}

/// A captured block was, or was not, linked to entities (spec §4).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ArtifactResolved {
    /// The block.
    pub capture: CaptureId,
    /// How surely.
    pub level: Level,
    /// By which rule.
    pub reason: Reason,
    /// The grammar that read it.
    pub grammar: Option<GrammarTag>,
    /// Hash of the pattern data (`symbols.json`) that was in force.
    pub patterns: ArtifactHash,
    /// Whole file or part.
    pub extent: Extent,
    /// The versions that it defines, all PROPOSED at first; empty if UNRESOLVED.
    pub versions: Vec<Version>,
}

/// A version moved along one arrow of the state machine (spec §5).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Transitioned {
    /// The version that moved.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// The arrow.
    pub transition: Transition,
    /// Who caused it.
    pub origin: Origin,
    /// By which rule.
    pub cause: Reason,
    /// Both gates' verdicts, for promotions.
    pub report: Option<GateReport>,
}

/// Versions of one block, all of one file, moved from PROPOSED to AUTHORITATIVE by the same verdicts: as much as a
/// [`Transitioned`] for each, where nothing happened between them.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct VersionsPromoted {
    /// The first version; the others have the numbers that follow.
    pub first: VersionId,
    /// Their file.
    pub path: RelPath,
    /// Their symbols, in the order of the versions; `None` is the file as a whole.
    pub symbols: Vec<Option<Symbol>>,
    /// Who caused it.
    pub origin: Origin,
    /// By which rule.
    pub cause: Reason,
    /// Both gates' verdicts.
    pub report: Option<GateReport>,
}

impl VersionsPromoted {
    /// The same, one by one.
    pub fn transitions(&self) -> impl Iterator<Item = Transitioned> {
        let numbered = (0..).zip(&self.symbols);
        numbered.map(|(after, symbol)| Transitioned {
            // In a damaged ledger there may be none after the first.
            version: VersionId(self.first.0.wrapping_add(after)),
            entity: EntityId {
                path: self.path.clone(),
                symbol: symbol.clone(),
            },
            transition: Transition::Promote,
            origin: self.origin,
            cause: self.cause,
            report: self.report.clone(),
        })
    }
}

impl Event {
    /// The moves of versions that it says.
    pub fn transitions(&self) -> impl Iterator<Item = Cow<'_, Transitioned>> {
        let (one, many) = match self {
            Self::Transitioned(moved) => (Some(Cow::Borrowed(moved)), None),
            Self::VersionsPromoted(promoted) => (None, Some(promoted.transitions())),
            _ => (None, None),
        };
        let many = many.into_iter().flatten();
        one.into_iter().chain(many.map(Cow::Owned))
    }
}

/// A version failed a gate, or belongs to a block of which another one did: a block is refused as a whole. It stays PROPOSED.
/// Code whose entity isn't CONFIRMED is refused without this event.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromotionRefused {
    /// The version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// The known entity that this one may be under another name, where that is what keeps it out.
    pub rename_of: Option<EntityId>,
    /// Both gates' verdicts; its conclusion says why.
    pub report: GateReport,
}

/// A version that an audit is about.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Audited {
    /// The version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
}

/// A shadow audit begins (spec §10).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AuditAsked {
    /// What it is asked about.
    pub about: Vec<Audited>,
}

stored_words! {
    /// What an audit says of an entity (spec §10).
    AuditStatus, "audit status" {
        /// All of what was asked for is there.
        Completed = "completed",
        /// A part of it is missing.
        Partial = "partial",
        /// The code is an illustration, not a change.
        Discussion = "discussion",
    }
}

stored_words! {
    /// How an audit ended.
    AuditOutcome, "audit outcome" {
        /// With an answer in the form that was asked for.
        Answered = "answered",
        /// With a text that is no answer.
        NoAnswer = "no_answer",
        /// A new request needed the model.
        Cancelled = "cancelled",
        /// The model couldn't be asked, or its reply broke off.
        Failed = "failed",
    }
}

/// What an audit says of one version.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AuditVerdict {
    /// The version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// The status.
    pub status: AuditStatus,
}

/// A shadow audit came to its end (spec §10).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AuditAnswered {
    /// How it ended.
    pub outcome: AuditOutcome,
    /// The answer's text in the Vault, if there was any.
    pub answer: Option<ArtifactHash>,
    /// What it says; empty unless it was answered.
    pub verdicts: Vec<AuditVerdict>,
}

/// Something to tell the model, once, in the next prompt of the session, and the user in `/recent`.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct NoticeIssued {
    /// The episode in which it arose.
    pub episode: EpisodeId,
    /// The session that it is for.
    pub session: SessionId,
    /// The rule that it is about.
    pub reason: Reason,
    /// What it is about.
    pub entity: Option<EntityId>,
    /// The other entity that it is about, where there are two: a suspected rename's old name.
    pub other: Option<EntityId>,
}

impl NoticeIssued {
    /// A notice about one entity, or none.
    #[must_use]
    pub fn new(
        (episode, session): (EpisodeId, SessionId),
        reason: Reason,
        entity: impl Into<Option<EntityId>>,
    ) -> Self {
        Self {
            episode,
            session,
            reason,
            entity: entity.into(),
            other: None,
        }
    }
}

stored_words! {
    /// How a request's older messages are treated (engine: "Prompt assembly").
    History, "history policy" {
        /// Older turns are replaced by the Recent Context block.
        Window = "window",
        /// The client's own messages stay in place.
        Client = "client",
    }
}

/// An entity whose code the model was shown.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Hydrated {
    /// The entity.
    pub entity: EntityId,
    /// The version shown.
    pub version: VersionId,
    /// Why it was a candidate.
    pub reason: Reason,
    /// Tokens charged to the budget.
    pub tokens: u32,
}

/// A candidate that the model was not shown.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Dropped {
    /// The entity.
    pub entity: EntityId,
    /// The rule that kept it out.
    pub reason: Reason,
}

/// What the model was given to see.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptComposed {
    /// How older messages were treated.
    pub history: History,
    /// Code shown, in the order of the block.
    pub hydrated: Vec<Hydrated>,
    /// Candidates not shown.
    pub dropped: Vec<Dropped>,
    /// Notices shown.
    pub notices: u32,
    /// The token budget that applied.
    pub budget_tokens: u32,
}

stored_words! {
    /// On which side of a message's own text something was put.
    Side, "side of a message" {
        /// In front of it: of the user's words.
        Before = "before",
        /// After it: of what a tool returned.
        After = "after",
    }
}

/// A text of the proxy's own that is part of a client's message from now on, whenever the client sends it again.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Injected {
    /// The message.
    pub message: MessageKey,
    /// How many messages there are in the conversation up to it, system messages left out.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub position: u32,
    /// Where in it.
    pub side: Side,
    /// The text in the Vault.
    pub text: ArtifactHash,
}

/// A version that one of the client's messages shows and that is withheld from it from now on.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Archive, Store, Load, Serialize, Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Withheld {
    /// Its entity.
    pub entity: EntityId,
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// How many messages there are in the conversation up to the one that shows it, system messages left out.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub position: u32,
}

/// What was put into the client's own messages, or withheld from them, for the first time. A model that was shown
/// something is shown it again byte for byte, as long as it isn't wrong.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptAmended {
    /// What was put in.
    pub injected: Option<Injected>,
    /// What is withheld, sorted.
    pub withheld: Vec<Withheld>,
}

/// How much of one prompt there is, and how much of it the model server has to read anew.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptCost {
    /// Characters of the prompt's JSON: its tools and its messages.
    pub chars_total: u32,
    /// Those after the first one that differs from the most similar of the last prompts. An estimate: too high by less
    /// than a block of the comparison.
    pub chars_anew: u32,
}

/// What the model server itself says of a prompt, in tokens; `None` where it doesn't say.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ServerUsage {
    /// The whole prompt.
    pub prompt_tokens: Option<u32>,
    /// What it had in its cache.
    pub cached_tokens: Option<u32>,
    /// What it had to read.
    pub evaluated_tokens: Option<u32>,
    /// What it wrote.
    #[serde(default)]
    pub completion_tokens: Option<u32>,
}

/// It turned out what a prompt cost the model server. Recorded with the end of the reply; nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptMeasured {
    /// The prompt as the client wrote it: its price if the client had asked the model server directly.
    pub client: PromptCost,
    /// The prompt as it was sent.
    pub sent: PromptCost,
    /// The model server's own figures, if it reports any.
    pub server: Option<ServerUsage>,
    /// Bytes of the reply's text and of its calls.
    #[serde(default)]
    pub reply_bytes: u32,
    /// How the client calls itself (`User-Agent`); empty if it doesn't.
    #[serde(default)]
    pub user_agent: String,
    /// Microseconds from the prompt's last byte until it went on to the model server, if that is known.
    #[serde(default)]
    pub added_micros: Option<u32>,
    /// Tokens that the model reads at once, if the server says so.
    #[serde(default)]
    pub window: Option<u32>,
}

stored_words! {
    /// What a model server is, as far as it says how much its models read.
    ServerKind, "kind of model server" {
        /// Ollama.
        Ollama = "ollama",
        /// llama.cpp's server.
        LlamaCpp = "llama_cpp",
        /// LM Studio.
        LmStudio = "lm_studio",
        /// vLLM.
        Vllm = "vllm",
        /// Any other.
        Other = "other",
    }
}

/// A prompt is longer than what its model reads at once, so that the server cuts a part of it off. Recorded with the end of the reply;
/// nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct WindowExceeded {
    /// The model's name in the request; empty if it has none.
    pub model: String,
    /// Tokens that the model reads at once, if the server says so.
    pub window: Option<u32>,
    /// Tokens of the prompt, estimated.
    pub prompt: u32,
    /// Tokens that the server says it read; `None` where the prompt's length alone shows it.
    pub read: Option<u32>,
    /// What the server is.
    pub server: ServerKind,
}

stored_words! {
    /// What became of a reply's text that was meant to be calls of the client's tools.
    LostCallOutcome, "what became of a call that the client couldn't use" {
        /// The client got the calls in its place.
        Delivered = "delivered",
        /// The model was asked once more.
        AskedAgain = "asked_again",
        /// The client got the text: asking once more gave no call either.
        LeftAsText = "left_as_text",
        /// It came as a call whose old text isn't in its file, and was given that of the only place that can be meant.
        Fitted = "fitted",
    }
}

/// A reply's text was meant to be calls of the client's tools, or a call of them didn't fit its file. Nothing becomes true by it: the
/// calls that the client got are in the reply's end.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct LostCallFound {
    /// The text in the Vault, as the model wrote it.
    pub written: ArtifactHash,
    /// What became of it.
    pub outcome: LostCallOutcome,
    /// The tools that are called in what the client got.
    pub tools: Vec<String>,
    /// What is wrong with the text, as the model was told; empty where nothing is.
    pub flaw: String,
}

/// What a reply has its client do. Recorded where a budget bounds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct WorkCounted {
    /// The files that it changes, each once.
    pub files: Vec<RelPath>,
    /// Lines of code that it writes.
    pub lines: u32,
    /// Builds that it has the client run.
    pub builds: u32,
    /// Test runs.
    pub tests: u32,
}

/// The user's check came to its end, after a turn that changed code (docs/repair.md).
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct CheckRan {
    /// Its command line, as it is configured.
    pub command: String,
    /// How it ended.
    pub outcome: ToolOutcome,
    /// What is kept of what it printed, in the Vault, without credentials and files that are off.
    pub output: ArtifactHash,
    /// Bytes that it printed.
    pub bytes: u64,
    /// How long it took.
    pub duration_ms: u64,
}

/// Gate A refuses what calls do to code before their client has them (docs/repair.md). The first ones are asked for once more; if those
/// of the second reply are no better, they are refused likewise.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DraftRefused {
    /// The calls.
    pub tool_calls: Vec<ToolCallRef>,
    /// What keeps their code out.
    pub refused: Vec<DraftFault>,
    /// What the model is told when it is asked for them once more; `None` for the second ones.
    pub told: Option<ArtifactHash>,
}

/// Why code of a reply is refused.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DraftFault {
    /// The entity.
    pub entity: EntityId,
    /// The rule of gate A that isn't met.
    pub reason: Reason,
}

/// The user brings another model's answer, which is judged as a model's.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ReplyImported {
    /// Whose answer it is, as the user calls it.
    pub source: String,
    /// The answer in the Vault.
    pub content: ArtifactHash,
}

/// The user says which files a model may see: a rule begins or ends.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ScopeChanged {
    /// What is said.
    pub change: ScopeChange,
    /// The conversation that it is said of; 0 is all.
    pub session: SessionId,
    /// The [pattern](crate::scope::parse_pattern); of a lock the file.
    pub pattern: String,
}

/// The user says what the work is for, or something of it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct GoalChanged {
    /// What is said.
    pub change: GoalChange,
    /// The goal, the next step, the question or the budget; empty when the goal is done.
    pub text: String,
}

/// A statement is kept for the project, proposed, or kept no longer.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct RecordChanged {
    /// Its name.
    pub key: String,
    /// What it states.
    pub kind: RecordKind,
    /// Whether it counts from now on.
    #[serde(default = "kept")]
    pub standing: RecordStanding,
    /// Whose word it is: the user's, or the model's, whose facts are proven by the code that they quote.
    #[serde(default = "users")]
    pub author: Author,
    /// Why.
    #[serde(default = "noted")]
    pub cause: Reason,
    /// The statement; empty if it is kept no longer.
    pub statement: String,
    /// The file that proves it; empty if the user's word does.
    pub path: String,
    /// The code that stands there.
    pub quotation: String,
    /// The keys of the records that it is derived from.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// When it ends by itself; 0 is never.
    #[serde(default)]
    pub expires_at: UnixMillis,
}

const fn kept() -> RecordStanding {
    RecordStanding::Kept
}

const fn users() -> Author {
    Author::User
}

const fn noted() -> Reason {
    Reason::RecordNoted
}

/// Where a cleared conversation begins: the older messages that its client sends along go to no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ContextCut {
    /// How many messages there are in the conversation up to its first one that is kept, system messages left out.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub position: u32,
    /// That message.
    pub message: MessageKey,
    /// The model's last reply before it, if the conversation had one.
    pub reply: Option<MessageKey>,
}

/// The user clears a conversation's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ContextCleared {
    /// Where it begins from now on; `None`: with the user's next prompt.
    pub cut: Option<ContextCut>,
}

/// A prompt on record that another one begins like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptBase {
    /// Its episode; the last prompt that was sent in it.
    pub episode: EpisodeId,
    /// How many messages the two have in common.
    #[cfg_attr(feature = "arbitrary", arbitrary(with = few::count))]
    pub messages: u32,
}

/// A prompt went to the model. Recorded after it went; nothing is decided by it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PromptSent {
    /// What is around its messages, in the Vault: the model's name, parameters, tools.
    pub frame: ArtifactHash,
    /// Where its first messages are on record.
    pub base: Option<PromptBase>,
    /// The messages after those, in the Vault.
    pub messages: Vec<ArtifactHash>,
}
