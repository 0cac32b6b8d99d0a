//! How the parts lie in their bytes. What an event holds, too, lies as it does there.

use rkyv::with::{InlineAsBox, Map};
use rkyv::{Archive, Serialize};

use crate::v1::{
    DiskFinding, Entity, GateReport, Injected, NoticeIssued, PromptMeasured, ReplyOutcome, Version,
    Withheld,
};

use crate::v2::RulesInForce;

/// A hash of any kind.
type Hash = [u8; 32];

/// A list that is found by a hash.
type ByHash = Vec<(Hash, u64)>;

/// One piece of the state.
#[derive(Archive, Serialize)]
pub(super) enum Part<'a> {
    Sources(Vec<(Hash, u32)>),
    Truths(Vec<FileTruths<'a>>),
    Superseded(Vec<(Entity<'a>, Vec<FormerVersion>)>),
    Proposals(Vec<Proposed<'a>>),
    ProposalOrder(Vec<(Entity<'a>, Vec<u64>)>),
    ProposalIds(u64, u64),
    Tombstones(Vec<(Entity<'a>, u64, u64)>),
    Disk(Vec<Look<'a>>),
    Differing(Vec<(Entity<'a>, u8)>),
    Acknowledged(Vec<(Entity<'a>, Option<Hash>)>),
    Sessions(Vec<Session<'a>>),
    SessionNames(Vec<Named<'a>>),
    SessionPoints(Vec<(Hash, u64, u32)>),
    SessionTails(ByHash),
    SessionReplies(ByHash),
    SessionPrompts(ByHash),
    SessionEpisodes(Vec<(u64, u64)>),
    UnderWay(Vec<(u64, u32)>),
    SessionIds(u64, u64),
    Episodes(Vec<Episode<'a>>),
    Audits(Vec<Audit<'a>>),
    Anomalies(Vec<Anomaly<'a>>),
    Rules(RulesInForce<'a>),
}

/// What is true of one file.
#[derive(Archive, Serialize)]
pub(super) struct FileTruths<'a> {
    #[rkyv(with = InlineAsBox)]
    pub(super) path: &'a str,
    pub(super) truths: Vec<Truth<'a>>,
}

/// What is true of one entity.
#[derive(Archive, Serialize)]
pub(super) struct Truth<'a> {
    #[rkyv(with = Map<InlineAsBox>)]
    pub(super) symbol: Option<&'a str>,
    pub(super) slice: Hash,
    pub(super) source: Hash,
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) nodes: u32,
    pub(super) tokens: u32,
    pub(super) origin: u8,
    pub(super) proof: u8,
    pub(super) version: u64,
    pub(super) episode: u64,
    pub(super) seq: u64,
    pub(super) at: i64,
}

/// A version that was true.
#[derive(Archive, Serialize)]
pub(super) struct FormerVersion {
    pub(super) slice: Hash,
    pub(super) artifact: Hash,
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) origin: u8,
    pub(super) episode: u64,
}

/// An open proposal.
#[derive(Archive, Serialize)]
pub(super) struct Proposed<'a> {
    pub(super) version: Version<'a>,
    pub(super) source: Hash,
    pub(super) level: u8,
    pub(super) proof: u8,
    pub(super) origin: u8,
    pub(super) episode: u64,
    pub(super) session: u64,
    pub(super) report: Option<GateReport<'a>>,
    pub(super) rename_of: Option<Entity<'a>>,
}

/// The last look at a path.
#[derive(Archive, Serialize)]
pub(super) struct Look<'a> {
    #[rkyv(with = InlineAsBox)]
    pub(super) path: &'a str,
    pub(super) finding: DiskFinding<'a>,
    pub(super) seq: u64,
}

/// A conversation.
#[derive(Archive, Serialize)]
pub(super) struct Session<'a> {
    pub(super) id: u64,
    #[rkyv(with = Map<InlineAsBox>)]
    pub(super) name: Option<&'a str>,
    pub(super) plain: bool,
    pub(super) length: u32,
    pub(super) points: Vec<(Hash, u32, u64)>,
    pub(super) head: Option<Hash>,
    pub(super) tail: Option<Hash>,
    pub(super) reply: Option<Hash>,
    pub(super) last_prompt: Option<(Hash, u32)>,
    pub(super) open: Option<Open>,
    pub(super) last_episode: u64,
    pub(super) before_last: u64,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) hydration_order: Vec<Entity<'a>>,
    pub(super) shown: Vec<(Entity<'a>, u64)>,
    pub(super) last_shown: Vec<(Entity<'a>, u64)>,
    pub(super) notices: Vec<(NoticeIssued<'a>, bool)>,
    pub(super) injected: Vec<Injected>,
    pub(super) withheld: Vec<Withheld<'a>>,
    pub(super) ancestors: Vec<(u64, u64)>,
    pub(super) refused: Vec<RefusedFile<'a>>,
}

/// A file that a reply was refused for.
#[derive(Archive, Serialize)]
pub(super) struct RefusedFile<'a> {
    #[rkyv(with = InlineAsBox)]
    pub(super) path: &'a str,
    pub(super) episode: u64,
}

/// A prompt without a completed reply.
#[derive(Archive, Serialize)]
pub(super) struct Open {
    pub(super) episode: u64,
    pub(super) transcript: Hash,
    pub(super) length: u32,
    pub(super) user_key: Option<Hash>,
    pub(super) user: Vec<Hash>,
    pub(super) in_flight: bool,
    pub(super) in_tool_chain: bool,
}

/// A prompt and its reply.
#[derive(Archive, Serialize)]
pub(super) struct Exchange {
    pub(super) user: Vec<Hash>,
    pub(super) assistant: Vec<Hash>,
    pub(super) length: u32,
}

/// A conversation's name.
#[derive(Archive, Serialize)]
pub(super) struct Named<'a> {
    #[rkyv(with = InlineAsBox)]
    pub(super) name: &'a str,
    pub(super) session: u64,
}

/// One of the last episodes.
#[derive(Archive, Serialize)]
pub(super) struct Episode<'a> {
    pub(super) id: u64,
    pub(super) session: u64,
    pub(super) at: i64,
    #[rkyv(with = InlineAsBox)]
    pub(super) model: &'a str,
    pub(super) outcome: Option<ReplyOutcome>,
    pub(super) history: Option<u8>,
    pub(super) price: Option<PromptMeasured>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) first: u64,
}

/// What happened in an episode.
#[derive(Archive, Serialize)]
pub(super) struct Entry<'a> {
    #[rkyv(with = InlineAsBox)]
    pub(super) what: &'a str,
    pub(super) entity: Option<Entity<'a>>,
    #[rkyv(with = InlineAsBox)]
    pub(super) reason: &'a str,
}

/// A version that an audit was about.
#[derive(Archive, Serialize)]
pub(super) struct Audit<'a> {
    pub(super) episode: u64,
    pub(super) version: u64,
    pub(super) entity: Entity<'a>,
    pub(super) answer: Answer,
}

/// What was said of it.
#[derive(Archive, Serialize)]
pub(super) enum Answer {
    Awaited,
    Given(u8),
    None(u8),
}

/// An event that contradicts the state before it.
#[derive(Archive, Serialize)]
pub(super) struct Anomaly<'a> {
    pub(super) seq: u64,
    #[rkyv(with = InlineAsBox)]
    pub(super) event: &'a str,
}

/// The numbers that stand for how an entity differs from disk.
pub(super) mod difference {
    pub(in super::super) const ACKNOWLEDGED: u8 = 0;
    pub(in super::super) const UNKNOWN: u8 = 1;
    pub(in super::super) const SUPERSEDED: u8 = 2;
    pub(in super::super) const UNREADABLE: u8 = 3;
}

/// The numbers that stand for how a definition was found.
pub(super) mod proof {
    pub(in super::super) const PARTIAL_PATTERN: u8 = 1;
    pub(in super::super) const PATTERN: u8 = 2;
    pub(in super::super) const AST: u8 = 3;
}
