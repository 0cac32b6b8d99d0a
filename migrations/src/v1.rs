//! Version 1 of every event's stored bytes. Frozen: a change of any layout is a new version of it. Only what an enum or a
//! reason may be grows: [`codes`] gets a number for each new variant, and `REASONS_SINCE_V1` in `tests/stored/frozen.rs` each
//! new reason.
//!
//! The core type with a layout's name says what it holds. The layouts borrow from the core event while it is written, and are read where they lie. Everything is
//! little-endian, unaligned, with 32-bit relative pointers; the root is at the end of the bytes. Enums without
//! data are numbers from [`codes`]; reasons are their stable words.

use rkyv::with::{InlineAsBox, Map};
use rkyv::{Archive, Serialize};

pub(crate) mod action;
pub(crate) mod codes;
pub(crate) mod load;
mod store;

pub(crate) use load::Load;

type Hash = [u8; 32];

#[derive(Archive, Serialize)]
pub(crate) struct Content<'a> {
    pub(crate) hash: Hash,
    pub(crate) kind: u8,
    #[rkyv(with = InlineAsBox)]
    pub(crate) bytes: &'a [u8],
}

#[derive(Archive, Serialize)]
pub(crate) struct MessageRef {
    role: u8,
    key: Hash,
    content: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) struct Fork {
    session: u64,
    messages: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptReceived<'a> {
    episode: u64,
    session: u64,
    #[rkyv(with = Map<InlineAsBox>)]
    session_name: Option<&'a str>,
    fork: Option<Fork>,
    transcript: Hash,
    length: u32,
    #[rkyv(with = InlineAsBox)]
    model: &'a str,
    system: Option<Hash>,
    messages: Vec<MessageRef>,
    older: u32,
    tools: u8,
}

#[derive(Archive, Serialize)]
pub(crate) struct ReplySegment {
    episode: u64,
    content: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) enum ReplyOutcome {
    Completed,
    ClientGone,
    UpstreamBroken,
    UpstreamRefused(u16),
    UpstreamUnreachable,
    Interrupted,
}

#[derive(Archive, Serialize)]
pub(crate) struct ToolCallRef<'a> {
    #[rkyv(with = InlineAsBox)]
    name: &'a str,
    arguments: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) struct ReplyEnded<'a> {
    episode: u64,
    outcome: ReplyOutcome,
    #[rkyv(with = Map<InlineAsBox>)]
    finish_reason: Option<&'a str>,
    key: Hash,
    segments: Vec<Hash>,
    tool_calls: Vec<ToolCallRef<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct GrammarTag<'a> {
    #[rkyv(with = InlineAsBox)]
    language: &'a str,
    #[rkyv(with = InlineAsBox)]
    version: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct Thresholds {
    nodes_percent: u8,
    tokens_percent: u8,
    correlation_percent: u8,
    rename_percent: u8,
}

#[derive(Archive, Serialize)]
pub(crate) struct Policy<'a> {
    #[rkyv(with = InlineAsBox)]
    workspace_root: &'a str,
    profile: u8,
    thresholds: Thresholds,
    audit: u8,
    history: u8,
    placement: u8,
    budget_tokens: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct RulesInForce<'a> {
    #[rkyv(with = InlineAsBox)]
    program: &'a str,
    rules: u32,
    grammars: Vec<GrammarTag<'a>>,
    patterns: Hash,
    policy: Policy<'a>,
}

#[derive(Archive, Serialize)]
pub(crate) struct DiskSlice<'a> {
    #[rkyv(with = InlineAsBox)]
    symbol: &'a str,
    slice: Option<Hash>,
}

#[derive(Archive, Serialize)]
pub(crate) struct DiskFile<'a> {
    whole: Hash,
    slices: Vec<DiskSlice<'a>>,
    definitions: u32,
    grammar: Option<GrammarTag<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) enum DiskFinding<'a> {
    Missing,
    File(DiskFile<'a>),
    Unreadable(u8),
}

#[derive(Archive, Serialize)]
pub(crate) struct DiskObserved<'a> {
    #[rkyv(with = InlineAsBox)]
    path: &'a str,
    finding: DiskFinding<'a>,
}

#[derive(Archive, Serialize)]
pub(crate) struct DirectiveGiven<'a> {
    episode: u64,
    verb: u8,
    #[rkyv(with = InlineAsBox)]
    target: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct Within {
    container: Hash,
    start: u32,
    end: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct EditRef {
    texts: Vec<Hash>,
    bases: Vec<u64>,
}

#[derive(Archive, Serialize)]
pub(crate) struct ArtifactCaptured<'a> {
    capture: u64,
    episode: u64,
    origin: u8,
    artifact: Hash,
    within: Option<Within>,
    format: u8,
    edit: Option<EditRef>,
    #[rkyv(with = Map<InlineAsBox>)]
    language: Option<&'a str>,
    evidence: u8,
    #[rkyv(with = Map<InlineAsBox>)]
    path: Option<&'a str>,
    completeness: u8,
}

#[derive(Archive, Serialize)]
pub(crate) struct Entity<'a> {
    #[rkyv(with = InlineAsBox)]
    path: &'a str,
    #[rkyv(with = Map<InlineAsBox>)]
    symbol: Option<&'a str>,
}

#[derive(Archive, Serialize)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct Version<'a> {
    id: u64,
    entity: Entity<'a>,
    slice: Hash,
    spans: Vec<Span>,
    nodes: u32,
    tokens: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct ArtifactResolved<'a> {
    capture: u64,
    level: u8,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
    grammar: Option<GrammarTag<'a>>,
    patterns: Hash,
    extent: u8,
    versions: Vec<Version<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct Verdict<'a> {
    #[rkyv(with = InlineAsBox)]
    rule: &'a str,
    met: bool,
    seen: u64,
    needed: u64,
}

#[derive(Archive, Serialize)]
pub(crate) struct GateReport<'a> {
    verdicts: Vec<Verdict<'a>>,
    #[rkyv(with = Map<InlineAsBox>)]
    conclusion: Option<&'a str>,
    passed: bool,
}

#[derive(Archive, Serialize)]
pub(crate) struct Transitioned<'a> {
    episode: u64,
    version: u64,
    entity: Entity<'a>,
    transition: u8,
    origin: u8,
    #[rkyv(with = InlineAsBox)]
    cause: &'a str,
    report: Option<GateReport<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromotionRefused<'a> {
    episode: u64,
    version: u64,
    entity: Entity<'a>,
    rename_of: Option<Entity<'a>>,
    report: GateReport<'a>,
}

#[derive(Archive, Serialize)]
pub(crate) struct Audited<'a> {
    version: u64,
    entity: Entity<'a>,
}

#[derive(Archive, Serialize)]
pub(crate) struct AuditAsked<'a> {
    episode: u64,
    about: Vec<Audited<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct AuditVerdict<'a> {
    version: u64,
    entity: Entity<'a>,
    status: u8,
}

#[derive(Archive, Serialize)]
pub(crate) struct AuditAnswered<'a> {
    episode: u64,
    outcome: u8,
    answer: Option<Hash>,
    verdicts: Vec<AuditVerdict<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct NoticeIssued<'a> {
    episode: u64,
    session: u64,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
    entity: Option<Entity<'a>>,
    other: Option<Entity<'a>>,
}

#[derive(Archive, Serialize)]
pub(crate) struct Hydrated<'a> {
    entity: Entity<'a>,
    version: u64,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
    tokens: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct Dropped<'a> {
    entity: Entity<'a>,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptCost {
    chars_total: u32,
    chars_anew: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct ServerUsage {
    prompt_tokens: Option<u32>,
    cached_tokens: Option<u32>,
    evaluated_tokens: Option<u32>,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptMeasured {
    episode: u64,
    client: PromptCost,
    sent: PromptCost,
    server: Option<ServerUsage>,
}

#[derive(Archive, Serialize)]
pub(crate) struct ReplyPart {
    episode: u64,
    kind: u8,
    choice: u32,
    content: Hash,
    left_out_bytes: u64,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptBase {
    episode: u64,
    messages: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptSent {
    episode: u64,
    frame: Hash,
    base: Option<PromptBase>,
    messages: Vec<Hash>,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptComposed<'a> {
    episode: u64,
    history: u8,
    hydrated: Vec<Hydrated<'a>>,
    dropped: Vec<Dropped<'a>>,
    notices: u32,
    budget_tokens: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct SideRequestReceived<'a> {
    episode: u64,
    #[rkyv(with = InlineAsBox)]
    model: &'a str,
    messages: u32,
    transcript: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) struct Injected {
    message: Hash,
    position: u32,
    side: u8,
    text: Hash,
}

#[derive(Archive, Serialize)]
pub(crate) struct Withheld<'a> {
    entity: Entity<'a>,
    slice: Hash,
    position: u32,
}

#[derive(Archive, Serialize)]
pub(crate) struct PromptAmended<'a> {
    episode: u64,
    injected: Option<Injected>,
    withheld: Vec<Withheld<'a>>,
}
