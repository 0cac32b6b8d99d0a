//! Version 1 of every event's stored bytes. Frozen: a change of any layout is a new version of it.
//!
//! The layouts borrow from the core event while it is written, and are read where they lie. Everything is
//! little-endian, unaligned, with 32-bit relative pointers; the root is at the end of the bytes. Enums without
//! data are numbers from [`codes`]; reasons are their stable words.

use rkyv::with::{InlineAsBox, Map};
use rkyv::{Archive, Serialize};

pub(crate) mod action;
pub(crate) mod codes;
pub(crate) mod load;
mod store;

pub(crate) use load::Load;

/// A hash of any kind.
type Hash = [u8; 32];

/// Bytes that enter the Vault.
#[derive(Archive, Serialize)]
pub(crate) struct Content<'a> {
    pub(crate) hash: Hash,
    pub(crate) kind: u8,
    #[rkyv(with = InlineAsBox)]
    pub(crate) bytes: &'a [u8],
}

/// One message by reference.
#[derive(Archive, Serialize)]
pub(crate) struct MessageRef {
    role: u8,
    key: Hash,
    content: Hash,
}

/// Where a session branches off.
#[derive(Archive, Serialize)]
pub(crate) struct Fork {
    session: u64,
    messages: u32,
}

/// A prompt came in.
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

/// A piece of a reply.
#[derive(Archive, Serialize)]
pub(crate) struct ReplySegment {
    episode: u64,
    content: Hash,
}

/// How a reply ended.
#[derive(Archive, Serialize)]
pub(crate) enum ReplyOutcome {
    Completed,
    ClientGone,
    UpstreamBroken,
    UpstreamRefused(u16),
    UpstreamUnreachable,
    Interrupted,
}

/// A tool call by reference.
#[derive(Archive, Serialize)]
pub(crate) struct ToolCallRef<'a> {
    #[rkyv(with = InlineAsBox)]
    name: &'a str,
    arguments: Hash,
}

/// A reply came to an end.
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

/// Which grammar gave an answer.
#[derive(Archive, Serialize)]
pub(crate) struct GrammarTag<'a> {
    #[rkyv(with = InlineAsBox)]
    language: &'a str,
    #[rkyv(with = InlineAsBox)]
    version: &'a str,
}

/// Thresholds of the gates.
#[derive(Archive, Serialize)]
pub(crate) struct Thresholds {
    nodes_percent: u8,
    tokens_percent: u8,
    correlation_percent: u8,
    rename_percent: u8,
}

/// What steers decisions.
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

/// The rules by which what follows is decided.
#[derive(Archive, Serialize)]
pub(crate) struct RulesInForce<'a> {
    #[rkyv(with = InlineAsBox)]
    program: &'a str,
    rules: u32,
    grammars: Vec<GrammarTag<'a>>,
    patterns: Hash,
    policy: Policy<'a>,
}

/// What disk holds of one symbol.
#[derive(Archive, Serialize)]
pub(crate) struct DiskSlice<'a> {
    #[rkyv(with = InlineAsBox)]
    symbol: &'a str,
    slice: Option<Hash>,
}

/// A readable file's fingerprint.
#[derive(Archive, Serialize)]
pub(crate) struct DiskFile<'a> {
    whole: Hash,
    slices: Vec<DiskSlice<'a>>,
    definitions: u32,
    grammar: Option<GrammarTag<'a>>,
}

/// What was found at a path.
#[derive(Archive, Serialize)]
pub(crate) enum DiskFinding<'a> {
    Missing,
    File(DiskFile<'a>),
    Unreadable(u8),
}

/// A file was looked at.
#[derive(Archive, Serialize)]
pub(crate) struct DiskObserved<'a> {
    #[rkyv(with = InlineAsBox)]
    path: &'a str,
    finding: DiskFinding<'a>,
}

/// A directive of the user's.
#[derive(Archive, Serialize)]
pub(crate) struct DirectiveGiven<'a> {
    episode: u64,
    verb: u8,
    #[rkyv(with = InlineAsBox)]
    target: &'a str,
}

/// The place of code in a stored message.
#[derive(Archive, Serialize)]
pub(crate) struct Within {
    container: Hash,
    start: u32,
    end: u32,
}

/// An edit and what it was applied to.
#[derive(Archive, Serialize)]
pub(crate) struct EditRef {
    texts: Vec<Hash>,
    bases: Vec<u64>,
}

/// A block of code was found.
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

/// `filepath::symbol`, or the file as a whole.
#[derive(Archive, Serialize)]
pub(crate) struct Entity<'a> {
    #[rkyv(with = InlineAsBox)]
    path: &'a str,
    #[rkyv(with = Map<InlineAsBox>)]
    symbol: Option<&'a str>,
}

/// A byte range.
#[derive(Archive, Serialize)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

/// One definition of one entity.
#[derive(Archive, Serialize)]
pub(crate) struct Version<'a> {
    id: u64,
    entity: Entity<'a>,
    slice: Hash,
    spans: Vec<Span>,
    nodes: u32,
    tokens: u32,
}

/// A block was, or was not, linked to entities.
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

/// One rule's verdict.
#[derive(Archive, Serialize)]
pub(crate) struct Verdict<'a> {
    #[rkyv(with = InlineAsBox)]
    rule: &'a str,
    met: bool,
    seen: u64,
    needed: u64,
}

/// Both gates' verdicts.
#[derive(Archive, Serialize)]
pub(crate) struct GateReport<'a> {
    verdicts: Vec<Verdict<'a>>,
    #[rkyv(with = Map<InlineAsBox>)]
    conclusion: Option<&'a str>,
    passed: bool,
}

/// A version moved.
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

/// A version stays PROPOSED.
#[derive(Archive, Serialize)]
pub(crate) struct PromotionRefused<'a> {
    episode: u64,
    version: u64,
    entity: Entity<'a>,
    rename_of: Option<Entity<'a>>,
    report: GateReport<'a>,
}

/// A version that an audit is about.
#[derive(Archive, Serialize)]
pub(crate) struct Audited<'a> {
    version: u64,
    entity: Entity<'a>,
}

/// An audit begins.
#[derive(Archive, Serialize)]
pub(crate) struct AuditAsked<'a> {
    episode: u64,
    about: Vec<Audited<'a>>,
}

/// What an audit says of one version.
#[derive(Archive, Serialize)]
pub(crate) struct AuditVerdict<'a> {
    version: u64,
    entity: Entity<'a>,
    status: u8,
}

/// An audit ended.
#[derive(Archive, Serialize)]
pub(crate) struct AuditAnswered<'a> {
    episode: u64,
    outcome: u8,
    answer: Option<Hash>,
    verdicts: Vec<AuditVerdict<'a>>,
}

/// A notice.
#[derive(Archive, Serialize)]
pub(crate) struct NoticeIssued<'a> {
    episode: u64,
    session: u64,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
    entity: Option<Entity<'a>>,
    other: Option<Entity<'a>>,
}

/// An entity whose code was shown.
#[derive(Archive, Serialize)]
pub(crate) struct Hydrated<'a> {
    entity: Entity<'a>,
    version: u64,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
    tokens: u32,
}

/// A candidate that was not shown.
#[derive(Archive, Serialize)]
pub(crate) struct Dropped<'a> {
    entity: Entity<'a>,
    #[rkyv(with = InlineAsBox)]
    reason: &'a str,
}

/// How much of a prompt had to be read anew.
#[derive(Archive, Serialize)]
pub(crate) struct PromptCost {
    chars_total: u32,
    chars_anew: u32,
}

/// The model server's own figures.
#[derive(Archive, Serialize)]
pub(crate) struct ServerUsage {
    prompt_tokens: Option<u32>,
    cached_tokens: Option<u32>,
    evaluated_tokens: Option<u32>,
}

/// What a prompt cost the model server.
#[derive(Archive, Serialize)]
pub(crate) struct PromptMeasured {
    episode: u64,
    client: PromptCost,
    sent: PromptCost,
    server: Option<ServerUsage>,
}

/// A piece of what a reply holds besides what is judged.
#[derive(Archive, Serialize)]
pub(crate) struct ReplyPart {
    episode: u64,
    kind: u8,
    choice: u32,
    content: Hash,
    left_out_bytes: u64,
}

/// A prompt that another one begins like.
#[derive(Archive, Serialize)]
pub(crate) struct PromptBase {
    episode: u64,
    messages: u32,
}

/// A prompt went to the model.
#[derive(Archive, Serialize)]
pub(crate) struct PromptSent {
    episode: u64,
    frame: Hash,
    base: Option<PromptBase>,
    messages: Vec<Hash>,
}

/// What the model was given to see.
#[derive(Archive, Serialize)]
pub(crate) struct PromptComposed<'a> {
    episode: u64,
    history: u8,
    hydrated: Vec<Hydrated<'a>>,
    dropped: Vec<Dropped<'a>>,
    notices: u32,
    budget_tokens: u32,
}

/// A request that belongs to no conversation.
#[derive(Archive, Serialize)]
pub(crate) struct SideRequestReceived<'a> {
    episode: u64,
    #[rkyv(with = InlineAsBox)]
    model: &'a str,
    messages: u32,
    transcript: Hash,
}

/// A text of the proxy's own in a client's message.
#[derive(Archive, Serialize)]
pub(crate) struct Injected {
    message: Hash,
    position: u32,
    side: u8,
    text: Hash,
}

/// A version that is withheld from older messages.
#[derive(Archive, Serialize)]
pub(crate) struct Withheld<'a> {
    entity: Entity<'a>,
    slice: Hash,
    position: u32,
}

/// What was put into the client's messages, or withheld from them.
#[derive(Archive, Serialize)]
pub(crate) struct PromptAmended<'a> {
    episode: u64,
    injected: Option<Injected>,
    withheld: Vec<Withheld<'a>>,
}
