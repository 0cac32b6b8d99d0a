//! What decisions may know of the state: the read side of all projections, as the engine sees it.

use alloc::vec::Vec;

use crate::artifact::Origin;
use crate::entity::{EntityId, Symbol};
use crate::event::{Audited, DiskFinding, Injected, NoticeIssued, Withheld};
use crate::extract::Proof;
use crate::gate::GateReport;
use crate::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use crate::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use crate::path::RelPath;
use crate::reason::Reason;
use crate::slice::{Figures, Span};
use crate::text_facts::{NameHash, NamedPath};

/// The authoritative version of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Current {
    /// Which version.
    pub version: VersionId,
    /// Hash of its canonical form: the State Map's artifact hash.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Where it stands in them.
    pub spans: Vec<Span>,
    /// Its structure.
    pub figures: Figures,
    /// How it was read.
    pub proof: Proof,
    /// Who supplied it.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// A version that waits for promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Which version.
    pub version: VersionId,
    /// Its entity.
    pub entity: EntityId,
    /// Hash of its canonical form.
    pub slice: SliceHash,
    /// The captured bytes that hold it.
    pub artifact: ArtifactHash,
    /// Where it stands in them.
    pub spans: Vec<Span>,
    /// The episode that it arose in.
    pub episode: EpisodeId,
    /// The session that it arose in.
    pub session: SessionId,
    /// Both gates' verdicts, once it was judged.
    pub report: Option<GateReport>,
    /// The known entity that it may be under another name.
    pub rename_of: Option<EntityId>,
    /// Who supplied it.
    pub origin: Origin,
}

impl Proposal {
    /// Why it was kept out, once it was judged.
    #[must_use]
    pub fn refused_for(&self) -> Option<Reason> {
        self.report.as_ref()?.conclusion
    }
}

/// What a session's prompt before the one under way had shown to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its episode.
    pub episode: EpisodeId,
    /// The entities shown.
    pub shown: Vec<EntityId>,
}

/// A point that a session's conversation has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPoint {
    /// The session.
    pub session: SessionId,
    /// Messages up to this point.
    pub length: u32,
    /// Whether the session can go on from here.
    pub place: Place,
}

/// Where a point lies in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At its end, with no reply under way: the next prompt continues the session.
    Head,
    /// Before its end: a prompt from here is an edited or regenerated turn.
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

/// A session's last prompt, whatever became of its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPrompt {
    /// The session.
    pub session: SessionId,
    /// How many messages the conversation has up to it.
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

/// Why an entity is STALE, or not known not to be.
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
    /// Where it is in them.
    pub spans: Vec<Span>,
    /// Who supplied it.
    pub origin: Origin,
    /// The episode in which it became true.
    pub episode: EpisodeId,
}

/// A notice that waits to be given to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingNotice {
    /// The notice.
    pub notice: NoticeIssued,
    /// Whether a prompt had it whose reply isn't complete.
    pub was_shown: bool,
}

/// What a session's messages are sent with, whenever the client sends them again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amendments {
    /// Texts of the proxy's own, the latest last.
    pub injected: Vec<Injected>,
    /// What is withheld.
    pub withheld: Vec<Withheld>,
}

/// The state that decisions are made on.
pub trait View {
    /// The id that the next episode gets.
    fn next_episode(&self) -> EpisodeId;
    /// The id that the next new session gets.
    fn next_session(&self) -> SessionId;
    /// The id that the next capture gets.
    fn next_capture(&self) -> CaptureId;
    /// The id that the next version gets.
    fn next_version(&self) -> VersionId;

    /// The session that a client named so.
    fn session_named(&self, name: &str) -> Option<SessionId>;
    /// The session that reached this conversation after a completed reply.
    fn session_at(&self, transcript: TranscriptHash) -> Option<SessionPoint>;
    /// The session at whose head the last prompt and reply are these (see [`crate::decide::exchange_hash`]).
    fn session_with_tail(&self, tail: TranscriptHash) -> Option<SessionId>;
    /// The session whose last reply this is, and its last exchange.
    fn session_with_reply(&self, reply: MessageKey) -> Option<(SessionId, Exchange)>;
    /// The open prompt whose conversation this is.
    fn open_prompt(&self, transcript: TranscriptHash) -> Option<OpenPrompt>;
    /// The session whose last prompt this conversation is.
    fn last_prompt(&self, transcript: TranscriptHash) -> Option<LastPrompt>;
    /// Episodes whose reply is still under way, as far as the ledger knows.
    fn in_flight(&self) -> Vec<EpisodeId>;
    /// The session of an episode that is among the recent ones.
    fn session_of(&self, episode: EpisodeId) -> Option<SessionId>;
    /// Whether these words were the session's prompt before, in a conversation of this many messages with them.
    fn was_prompted(&self, session: SessionId, length: u32, words: ArtifactHash) -> bool;
    /// Whether the session consists of single user prompts and replies alone, without context of the client's own.
    fn is_plain(&self, session: SessionId) -> bool;
    /// The last completed exchanges, oldest first, at most [`crate::limits::RECENT_PAIRS`].
    fn recent(&self, session: SessionId) -> Vec<Exchange>;
    /// Entities in the order in which the session first hydrated them.
    fn hydration_order(&self, session: SessionId) -> Vec<EntityId>;
    /// The version of an entity that the model was shown in this episode's prompt.
    fn shown(&self, episode: EpisodeId, entity: &EntityId) -> Option<VersionId>;
    /// The session's latest episode.
    fn latest_episode(&self, session: SessionId) -> Option<EpisodeId>;
    /// The turn before the session's open prompt, which must not be composed yet.
    fn turn_before(&self, session: SessionId) -> Option<Turn>;
    /// What a shadow audit of this episode was asked about, while its answer is awaited.
    fn audit_under_way(&self, episode: EpisodeId) -> Option<Vec<Audited>>;
    /// Notices that the model hasn't been given yet, oldest first.
    fn pending_notices(&self, session: SessionId) -> Vec<PendingNotice>;
    /// What the session's messages are sent with.
    fn amendments(&self, session: SessionId) -> Amendments;
    /// Where an episode's reply is in the session's conversation, as the number of messages up to it; `None` if it is of
    /// another conversation. An episode that isn't over counts up to its prompt.
    fn reply_position(&self, session: SessionId, episode: EpisodeId) -> Option<u32>;
    /// Files that the session's last complete reply was to change and that it was refused for.
    fn refused_files(&self, session: SessionId) -> Vec<RelPath>;
    /// The version of an entity that the session's model was shown last.
    fn last_shown(&self, session: SessionId, entity: &EntityId) -> Option<VersionId>;

    /// The authoritative version of an entity.
    fn current(&self, entity: &EntityId) -> Option<Current>;
    /// All authoritative symbols of a file, sorted by symbol.
    fn symbols_of(&self, path: &RelPath) -> Vec<Symbol>;
    /// Whether anything of the file is authoritative.
    fn tracks(&self, path: &RelPath) -> bool;
    /// Tracked files with this base name, at most `limit`.
    fn files_named(&self, basename: &str, limit: usize) -> Vec<RelPath>;
    /// The tracked file that a path in a text means.
    fn file_meant(&self, named: NamedPath) -> Option<RelPath>;
    /// A tracked file whose path differs from this one in upper and lower case alone.
    fn case_twin(&self, path: &RelPath) -> Option<RelPath>;
    /// Tracked entities whose symbol's last component is this, at most `limit`.
    fn entities_named(&self, name: &str, limit: usize) -> Vec<EntityId>;
    /// Whether every version that was promoted out of these bytes, or out of what they made as an edit, is still
    /// authoritative; `None` if none ever was. Once none is any more the count begins anew: bytes that become true again
    /// are current again.
    fn artifact_is_current(&self, artifact: ArtifactHash) -> Option<bool>;

    /// Versions of an entity that were authoritative, the latest last, at most [`crate::limits::SUPERSEDED_KEPT`].
    fn former_versions(&self, entity: &EntityId) -> Vec<FormerVersion>;
    /// Which event last changed what is true or what disk holds: as long as it is the same, [`Self::current`],
    /// [`Self::former_versions`], [`Self::may_be_outdated`] and [`Self::outdated_symbols`] give the same.
    fn code_changed(&self) -> Seq;
    /// Whether a symbol with this [`crate::text_facts::search_word`] may have former versions or be contradicted by disk. It
    /// is asked for every word of a prompt.
    fn may_be_outdated(&self, word: NameHash) -> bool;
    /// Every symbol with this search word that has former versions or that disk contradicts.
    fn outdated_symbols(&self, word: NameHash) -> Vec<EntityId>;

    /// Whether an update by the user left the entity out within the last episodes (spec §9.2).
    fn is_tombstoned(&self, entity: &EntityId) -> bool;

    /// What was last seen at the path.
    fn disk(&self, path: &RelPath) -> Option<&DiskFinding>;
    /// Whether what was last seen at the path was seen there before the Vault held these bytes, and nothing else since.
    fn held_before(&self, path: &RelPath, content: ArtifactHash) -> bool;
    /// Whether the user made true what is true of the entity after the Vault held these bytes.
    fn settled_since(&self, entity: &EntityId, content: ArtifactHash) -> bool;
    /// Whether `one` was superseded as a version of the entity, and `other` before it or, as far as is known, never.
    fn superseded_later(&self, entity: &EntityId, one: SliceHash, other: Option<SliceHash>)
    -> bool;
    /// How disk diverges from the entity, if it does.
    fn divergence(&self, entity: &EntityId) -> Option<Divergence>;

    /// Open proposals of a session, oldest first.
    fn proposals_in(&self, session: SessionId) -> Vec<Proposal>;
    /// Open proposals for an entity, oldest first.
    fn proposals_for(&self, entity: &EntityId) -> Vec<Proposal>;

    /// Open proposals for anything in a file.
    fn proposals_under(&self, path: &RelPath) -> Vec<Proposal>;

    /// Whether the Vault holds these bytes.
    fn holds(&self, artifact: ArtifactHash) -> bool;
    /// Whether the Vault holds these bytes as a message's, not as code's or a reply's that say the same.
    fn was_said(&self, text: ArtifactHash) -> bool;
    /// Bytes of the Vault.
    fn content(&self, artifact: ArtifactHash) -> Option<Vec<u8>>;
    /// These spans of an artifact, joined as [`crate::slice::joined`] does, without a copy of the rest.
    fn slices(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<Vec<u8>>;
}
