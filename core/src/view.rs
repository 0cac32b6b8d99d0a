//! The state as decisions may read it, in groups: a signature names what its decision may look at.

use alloc::vec::Vec;

use crate::artifact::Origin;
use crate::entity::{EntityId, Symbol};
use crate::event::{Audited, CallId, DiskFinding, Injected, NoticeIssued, Withheld};
use crate::extract::Proof;
use crate::gate::GateReport;
use crate::guardian::{BudgetAmounts, Decision, Door, GrantToken};
use crate::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use crate::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use crate::name_hash::{NameHash, NamedPath};
use crate::path::RelPath;
use crate::reason::Reason;
use crate::slice::{Figures, Span};

/// What is known of a session's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSession {
    /// Why none may run until the Operator resumes them.
    pub halt: Option<Reason>,
    /// What was granted, whether it still holds or not.
    pub grants: Vec<GrantToken>,
    /// What was spent since the Operator last resumed them.
    pub spent: BudgetAmounts,
    /// Denials by class since then.
    pub class_violations: u32,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// Its session.
    pub session: SessionId,
    /// Who asks, and who would run it.
    pub door: Door,
    /// The round of its reply.
    pub round: u32,
    /// The command line in the Vault.
    pub text: ArtifactHash,
    /// What was decided on it.
    pub decision: Option<Decision>,
    /// Whether it is known what came of it.
    pub is_over: bool,
    /// What it printed, in the Vault.
    pub output: Option<ArtifactHash>,
}

/// The authoritative version of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentVersion {
    /// The version.
    pub version: VersionId,
    /// Hash of its canonical form: the State Map's artifact hash.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// The proof of its definition.
    pub proof: Proof,
    /// Its origin.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// A version that waits for promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// The episode of the reply that proposed it.
    pub episode: EpisodeId,
    /// That episode's session.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it is suspected to rename.
    pub rename_of: Option<EntityId>,
    /// Its origin.
    pub origin: Origin,
}

impl Proposal {
    /// The reason that kept it out, if it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// A session's prompt before the one under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousTurn {
    /// Its episode.
    pub episode: EpisodeId,
    /// The entities that it showed to the model.
    pub shown: Vec<EntityId>,
}

/// A position in a session's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPoint {
    /// The session.
    pub session: SessionId,
    /// Messages up to this point.
    pub length: u32,
    /// Whether a prompt from here continues the session.
    pub place: SessionPosition,
}

/// Where in its session's conversation a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPosition {
    /// The last one, with no later prompt under way: the next prompt continues the session.
    Head,
    /// An earlier one: a prompt from here is an edited or regenerated turn.
    Past,
}

/// A prompt without a completed reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPrompt {
    /// The session.
    pub session: SessionId,
    /// The prompt's episode.
    pub episode: EpisodeId,
}

/// A session's last prompt, with or without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPrompt {
    /// The session.
    pub session: SessionId,
    /// The number of messages in the conversation up to it.
    pub length: u32,
    /// Whether its reply is under way.
    pub in_flight: bool,
}

/// One prompt and its reply, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Texts of the prompt's user messages.
    pub user: Vec<ArtifactHash>,
    /// Segments of the reply.
    pub assistant: Vec<ArtifactHash>,
}

/// The way in which disk contradicts an entity, which is STALE then, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// Disk holds something that was never authoritative here, or no longer holds the symbol.
    Unknown,
    /// Disk holds an earlier authoritative version.
    Superseded,
    /// The file can't be read.
    Unreadable,
}

/// A version of an entity that was authoritative once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerVersion {
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Its ranges in those bytes.
    pub spans: Vec<Span>,
    /// Its origin.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// A notice that waits to be given to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingNotice {
    /// The notice.
    pub notice: NoticeIssued,
    /// Whether a prompt showed it whose reply isn't complete.
    pub was_shown: bool,
}

/// The changes to a session's messages that are made again whenever the client sends the messages again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendments {
    /// The proxy's own texts, the latest last.
    pub injected: Vec<Injected>,
    /// The code that is withheld.
    pub withheld: Vec<Withheld>,
}

/// The whole state. Look-ups with a limit return the first in a fixed order, so that a fold and a restore agree.
pub trait View: KnownCode + Conversations + ToolRecords {}

impl<T: KnownCode + Conversations + ToolRecords> View for T {}

/// The state without conversations and tools.
pub trait KnownCode: Truth + Proposals + Disk + Vault {}

impl<T: Truth + Proposals + Disk + Vault> KnownCode for T {}

/// What is true of the code, what was, and what is outdated.
pub trait Truth {
    /// The id that the next capture gets.
    fn next_capture(&self) -> CaptureId;
    /// The id that the next version gets.
    fn next_version(&self) -> VersionId;

    /// The authoritative version of an entity.
    fn current_version(&self, entity: &EntityId) -> Option<CurrentVersion>;
    /// Earlier authoritative versions of an entity, the latest last, at most [`crate::limits::SUPERSEDED_KEPT`].
    fn former_versions(&self, entity: &EntityId) -> Vec<FormerVersion>;
    /// Whether `one` was superseded as a version of the entity later than `other`, or `other` isn't known to have been.
    fn superseded_later(&self, entity: &EntityId, one: SliceHash, other: Option<SliceHash>)
    -> bool;
    /// Whether the user made the entity's current version true after the Vault held these bytes.
    fn user_decided_since(&self, entity: &EntityId, content: ArtifactHash) -> bool;
    /// Whether an update by the user left the entity out within the last episodes (spec §9.2).
    fn is_tombstoned(&self, entity: &EntityId) -> bool;
    /// Whether every version that was promoted out of these bytes, or out of what they made as an edit, is still
    /// authoritative; `None` if none ever was. Once none is any more the count begins anew: bytes that become true again
    /// are current again.
    fn artifact_is_current(&self, artifact: ArtifactHash) -> Option<bool>;

    /// All authoritative symbols of a file, sorted by symbol.
    fn symbols_of(&self, path: &RelPath) -> Vec<Symbol>;
    /// Whether the file is *tracked*: it or any symbol of it is authoritative. A file that isn't is adopted from disk as soon as
    /// a prompt names it or a tool call concerns it ([`crate::decide::touch`]).
    fn tracks_file(&self, path: &RelPath) -> bool;
    /// Tracked files with this base name, at most `limit`.
    fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath>;
    /// The tracked file that a path in a text means.
    fn file_meant_by(&self, named: NamedPath) -> Option<RelPath>;
    /// A tracked file whose path differs from this one in upper and lower case alone.
    fn case_twin(&self, path: &RelPath) -> Option<RelPath>;
    /// Tracked entities whose symbol's last component is this, at most `limit`.
    fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId>;

    /// The event that last changed the truth or the known state of disk. While it is the same,
    /// [`Self::current_version`], [`Self::former_versions`], [`Self::entities_named`], [`Self::may_be_outdated`] and
    /// [`Self::outdated_symbols`] return the same.
    fn code_last_changed(&self) -> Seq;
    /// Whether a symbol with this [`crate::text_facts::search_word`] may have former versions or be contradicted by disk. Must
    /// be fast: it is asked for every word of a prompt.
    fn may_be_outdated(&self, word: NameHash) -> bool;
    /// Every symbol with this search word that has former versions or that disk contradicts.
    fn outdated_symbols(&self, word: NameHash) -> Vec<EntityId>;
}

/// Versions that wait for promotion, oldest first.
pub trait Proposals {
    /// The models' open proposals of a session.
    fn proposals_in(&self, session: SessionId) -> Vec<Proposal>;
    /// Open proposals for an entity.
    fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal>;
    /// Open proposals for anything in a file.
    fn proposals_under(&self, path: &RelPath) -> Vec<Proposal>;
}

/// The workspace as last observed.
pub trait Disk {
    /// The last observation of the path.
    fn disk_finding(&self, path: &RelPath) -> Option<&DiskFinding>;
    /// Whether the path has held the same since before the Vault held these bytes.
    fn disk_unchanged_since(&self, path: &RelPath, content: ArtifactHash) -> bool;
    /// The divergence of disk from the entity, if there is one.
    fn divergence(&self, entity: &EntityId) -> Option<Divergence>;
}

/// Bytes by their hash.
pub trait Vault {
    /// Whether the Vault holds these bytes.
    fn vault_holds(&self, artifact: ArtifactHash) -> bool;
    /// Whether the Vault holds these bytes as a message, not only as code or a reply with the same bytes.
    fn vault_holds_message(&self, text: ArtifactHash) -> bool;
    /// The bytes at an address of the Vault; `None` if it doesn't hold them.
    fn artifact_content(&self, artifact: ArtifactHash) -> Option<Vec<u8>>;
    /// These spans of an artifact, joined as [`crate::slice::joined`] does, without a copy of the rest.
    fn artifact_slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>>;
}

/// Sessions, their prompts and replies, and what they showed to the model.
pub trait Conversations {
    /// The id that the next episode gets.
    fn next_episode(&self) -> EpisodeId;
    /// The id that the next new session gets.
    fn next_session(&self) -> SessionId;

    /// The session with this name, which a client gave it.
    fn session_named(&self, name: &str) -> Option<SessionId>;
    /// The session that reached this conversation after a completed reply.
    fn session_at(&self, transcript: TranscriptHash) -> Option<SessionPoint>;
    /// The session at whose head the last prompt and reply are these (see [`crate::decide::exchange_hash`]).
    fn session_with_tail(&self, tail: TranscriptHash) -> Option<SessionId>;
    /// The session whose last reply this is, and its last exchange.
    fn session_with_reply(&self, reply: MessageKey) -> Option<(SessionId, Exchange)>;
    /// The session of an episode that is among the recent ones.
    fn session_of_episode(&self, episode: EpisodeId) -> Option<SessionId>;
    /// The open prompt whose conversation this is.
    fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt>;
    /// The session whose last prompt this conversation is.
    fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt>;
    /// Episodes whose reply's end isn't on record.
    fn episodes_in_flight(&self) -> Vec<EpisodeId>;

    /// Whether this text was the session's prompt before, as the last of `length` messages.
    fn was_prompted(&self, session: SessionId, length: u32, text: ArtifactHash) -> bool;
    /// Whether the session consists of single user prompts and replies, without the client's own context.
    fn is_plain_session(&self, session: SessionId) -> bool;
    /// The session's latest episode.
    fn latest_episode(&self, session: SessionId) -> Option<EpisodeId>;
    /// The turn before the session's open prompt, which must not be composed yet.
    fn previous_turn(&self, session: SessionId) -> Option<PreviousTurn>;
    /// The last completed exchanges, oldest first, at most [`crate::limits::RECENT_PAIRS`].
    fn recent_exchanges(&self, session: SessionId) -> Vec<Exchange>;
    /// The position of an episode's reply in the session's conversation, as the number of messages up to it; `None` if it
    /// belongs to another conversation. For an episode that isn't over, the position of its prompt.
    fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32>;
    /// Files for which the session's last complete reply was refused.
    fn refused_files(&self, session: SessionId) -> Vec<RelPath>;

    /// Entities in the order in which the session first hydrated them.
    fn hydration_order(&self, session: SessionId) -> Vec<EntityId>;
    /// The version of an entity that the model was shown in this episode's prompt.
    fn version_shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId>;
    /// The version of an entity that the session's model was shown last.
    fn version_last_shown(&self, session: SessionId, entity: &EntityId) -> Option<VersionId>;
    /// Notices that the model hasn't been given yet, oldest first.
    fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice>;
    /// The changes to the session's messages.
    fn amendments(&self, session: SessionId) -> Amendments;
    /// The versions in an unanswered shadow audit of this episode.
    fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>>;
}

/// The Guardian's sessions and the calls of tools.
pub trait ToolRecords {
    /// What is known of a session's tools.
    fn tool_session(&self, session: SessionId) -> ToolSession;
    /// A call of the last episodes that made any.
    fn tool_call(&self, call: CallId) -> Option<RecordedCall>;
    /// All calls of an episode that is among the last ones that made any.
    fn tool_calls_of(&self, episode: EpisodeId) -> Vec<RecordedCall>;
    /// Calls that may run and whose result isn't known.
    fn tool_calls_under_way(&self) -> Vec<CallId>;
}
