//! Random events without sense: ids, hashes and paths from a small stock, so that they collide, and some extremes. Each
//! function returns a random value of what it is called.

use arbitrary::{Result, Unstructured};
use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, AuditAnswered, AuditAsked, AuditOutcome, AuditStatus,
    AuditVerdict, Audited, Content, ContentKind, DiskFile, DiskFinding, DiskObserved, DiskSlice,
    Dropped, EditRef, Event, Extent, Fork, Format, History, Hydrated, MessageRef, NoticeIssued,
    PartKind, PathEvidence, PromotionRefused, PromptBase, PromptComposed, PromptCost,
    PromptMeasured, PromptReceived, PromptSent, ReadFailure, Recorded, ReplyEnded, ReplyOutcome,
    ReplyPart, ReplySegment, RulesInForce, ServerUsage, ToolCallRef, Transitioned, Within,
};
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{Completeness, GateReport, Verdict};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::slice::{Figures, Span};

use super::tool_events::tool_event;

/// Most events of a ledger.
const EVENTS_MAX: usize = 400;

/// Kinds of events by their frequency; those that make something true only together are more frequent.
const KINDS: [u8; 28] = [
    0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 17,
];

/// A ledger without sense, as long as the bytes last. Positions ascend, some with a gap.
///
/// # Errors
/// Never in practice: a source that has run out ends the list.
pub fn random_ledger(source: &mut Unstructured<'_>) -> Result<Vec<Recorded>> {
    let mut ledger = Vec::new();
    let mut seq = 0_u64;
    while !source.is_empty() && ledger.len() < EVENTS_MAX {
        seq += match source.int_in_range(0..=99_u8)? {
            0 => 2,
            _ => 1,
        };
        ledger.push(Recorded {
            seq: Seq(seq),
            at: UnixMillis(source.arbitrary()?),
            event: random_event(source)?,
        });
    }
    Ok(ledger)
}

/// An event of any kind.
fn random_event(source: &mut Unstructured<'_>) -> Result<Event> {
    let u = source;
    Ok(match *u.choose(&KINDS)? {
        0 => Event::Content(Content {
            hash: artifact(u)?,
            kind: content_kind(u)?,
            bytes: u.bytes(u.len().min(7))?.into(),
        }),
        1 => Event::PromptReceived(prompt(u)?),
        2 => Event::ReplySegment(ReplySegment {
            episode: EpisodeId(number(u)?),
            content: artifact(u)?,
        }),
        3 => Event::ReplyEnded(reply(u)?),
        4 => Event::DiskObserved(DiskObserved {
            path: path(u)?,
            finding: finding(u)?,
        }),
        5 => Event::ArtifactCaptured(captured(u)?),
        6 => Event::ArtifactResolved(ArtifactResolved {
            capture: CaptureId(number(u)?),
            level: pick(u, &[Level::Unresolved, Level::Inferred, Level::Confirmed])?,
            reason: reason(u)?,
            grammar: maybe(u, grammar)?,
            patterns: artifact(u)?,
            extent: pick(u, &[Extent::WholeFile, Extent::Fragment])?,
            versions: list(u, version)?,
        }),
        7 => Event::Transitioned(Transitioned {
            episode: EpisodeId(number(u)?),
            version: VersionId(number(u)?),
            entity: entity(u)?,
            transition: pick(
                u,
                &[
                    Transition::Promote,
                    Transition::Discard,
                    Transition::Supersede,
                    Transition::Remove,
                ],
            )?,
            origin: origin(u)?,
            cause: reason(u)?,
            report: maybe(u, report)?,
        }),
        8 => Event::PromotionRefused(PromotionRefused {
            episode: EpisodeId(number(u)?),
            version: VersionId(number(u)?),
            entity: entity(u)?,
            rename_of: maybe(u, entity)?,
            report: report(u)?,
        }),
        9 => Event::NoticeIssued(NoticeIssued {
            episode: EpisodeId(number(u)?),
            session: SessionId(number(u)?),
            reason: reason(u)?,
            entity: maybe(u, entity)?,
            other: maybe(u, entity)?,
        }),
        10 => Event::AuditAsked(AuditAsked {
            episode: EpisodeId(number(u)?),
            about: list(u, |u| {
                Ok(Audited {
                    version: VersionId(number(u)?),
                    entity: entity(u)?,
                })
            })?,
        }),
        12 => Event::RulesInForce(RulesInForce {
            program: String::from(pick(u, &["0.1.0", "0.2.0"])?),
            rules: u.arbitrary()?,
            grammars: list(u, grammar)?,
            patterns: artifact(u)?,
            policy: Policy {
                budget_tokens: u.arbitrary()?,
                tombstone_episodes: u.int_in_range(0..=12)?,
                ..Policy::default()
            },
        }),
        14 => Event::PromptMeasured(PromptMeasured {
            episode: EpisodeId(number(u)?),
            client: prompt_cost(u)?,
            sent: prompt_cost(u)?,
            server: maybe(u, |u| {
                Ok(ServerUsage {
                    prompt_tokens: u.arbitrary()?,
                    cached_tokens: u.arbitrary()?,
                    evaluated_tokens: u.arbitrary()?,
                })
            })?,
        }),
        15 => Event::ReplyPart(ReplyPart {
            episode: EpisodeId(number(u)?),
            kind: pick(u, &[PartKind::Reasoning, PartKind::Error])?,
            choice: u.arbitrary()?,
            content: artifact(u)?,
            left_out_bytes: number(u)?,
        }),
        16 => Event::PromptSent(PromptSent {
            episode: EpisodeId(number(u)?),
            frame: artifact(u)?,
            base: maybe(u, |u| {
                Ok(PromptBase {
                    episode: EpisodeId(number(u)?),
                    messages: u.arbitrary()?,
                })
            })?,
            messages: list(u, artifact)?,
        }),
        17 => tool_event(u)?,
        11 => Event::AuditAnswered(AuditAnswered {
            episode: EpisodeId(number(u)?),
            outcome: pick(
                u,
                &[
                    AuditOutcome::Answered,
                    AuditOutcome::NoAnswer,
                    AuditOutcome::Cancelled,
                    AuditOutcome::Failed,
                ],
            )?,
            answer: maybe(u, artifact)?,
            verdicts: list(u, |u| {
                Ok(AuditVerdict {
                    version: VersionId(number(u)?),
                    entity: entity(u)?,
                    status: pick(
                        u,
                        &[
                            AuditStatus::Completed,
                            AuditStatus::Partial,
                            AuditStatus::Discussion,
                        ],
                    )?,
                })
            })?,
        }),
        _ => Event::PromptComposed(PromptComposed {
            episode: EpisodeId(number(u)?),
            history: pick(u, &[History::Window, History::Client])?,
            hydrated: list(u, |u| {
                Ok(Hydrated {
                    entity: entity(u)?,
                    version: VersionId(number(u)?),
                    reason: reason(u)?,
                    tokens: u.arbitrary()?,
                })
            })?,
            dropped: list(u, |u| {
                Ok(Dropped {
                    entity: entity(u)?,
                    reason: reason(u)?,
                })
            })?,
            notices: u.arbitrary()?,
            budget_tokens: u.arbitrary()?,
        }),
    })
}

fn prompt_cost(u: &mut Unstructured<'_>) -> Result<PromptCost> {
    Ok(PromptCost {
        chars_total: u.arbitrary()?,
        chars_anew: u.arbitrary()?,
    })
}

fn prompt(u: &mut Unstructured<'_>) -> Result<PromptReceived> {
    Ok(PromptReceived {
        episode: EpisodeId(number(u)?),
        session: SessionId(number(u)?),
        session_name: maybe(u, |u| Ok(String::from(pick(u, &["one", "two"])?)))?,
        fork: maybe(u, |u| {
            Ok(Fork {
                session: SessionId(number(u)?),
                messages: small_count(u)?,
            })
        })?,
        transcript: TranscriptHash(hash(u)?),
        length: small_count(u)?,
        model: "m".into(),
        system: maybe(u, artifact)?,
        messages: list(u, |u| {
            Ok(MessageRef {
                role: pick(u, &[Role::User, Role::Assistant, Role::Tool, Role::Other])?,
                key: MessageKey(hash(u)?),
                content: artifact(u)?,
            })
        })?,
        older: small_count(u)?,
        tools: pick(u, &[Tools::None, Tools::Offered])?,
    })
}

fn reply(u: &mut Unstructured<'_>) -> Result<ReplyEnded> {
    Ok(ReplyEnded {
        episode: EpisodeId(number(u)?),
        outcome: pick(
            u,
            &[
                ReplyOutcome::Completed,
                ReplyOutcome::Completed,
                ReplyOutcome::ClientGone,
                ReplyOutcome::UpstreamRefused(500),
            ],
        )?,
        finish_reason: maybe(u, |u| Ok(String::from(pick(u, &["stop", "length"])?)))?,
        key: MessageKey(hash(u)?),
        segments: list(u, artifact)?,
        tool_calls: list(u, |u| {
            Ok(ToolCallRef {
                name: "t".into(),
                arguments: artifact(u)?,
            })
        })?,
    })
}

fn captured(u: &mut Unstructured<'_>) -> Result<ArtifactCaptured> {
    Ok(ArtifactCaptured {
        capture: CaptureId(number(u)?),
        episode: EpisodeId(number(u)?),
        origin: origin(u)?,
        artifact: artifact(u)?,
        within: maybe(u, |u| {
            let span = span(u)?;
            Ok(Within {
                container: artifact(u)?,
                start: span.start,
                end: span.end,
            })
        })?,
        format: pick(u, &[Format::Fence, Format::SearchReplace, Format::ToolCall])?,
        edit: maybe(u, |u| {
            Ok(EditRef {
                texts: list(u, artifact)?,
                bases: list(u, |u| Ok(VersionId(number(u)?)))?,
            })
        })?,
        language: maybe(u, |_| Ok("c".into()))?,
        evidence: pick(u, &[PathEvidence::None, PathEvidence::InfoString])?,
        path: maybe(u, path)?,
        completeness: pick(
            u,
            &[
                Completeness::Full,
                Completeness::Elided,
                Completeness::Truncated,
            ],
        )?,
    })
}

fn finding(u: &mut Unstructured<'_>) -> Result<DiskFinding> {
    Ok(match u.int_in_range(0..=3_u8)? {
        0 => DiskFinding::Missing,
        1 => DiskFinding::Unreadable(ReadFailure::Denied),
        _ => DiskFinding::File(DiskFile {
            whole: SliceHash(hash(u)?),
            // Not sorted, and with repetitions: a decoder doesn't check that either.
            slices: list(u, |u| {
                Ok(DiskSlice {
                    symbol: symbol(u)?,
                    slice: maybe(u, |u| Ok(SliceHash(hash(u)?)))?,
                })
            })?,
            definitions: small_count(u)?,
            grammar: maybe(u, grammar)?,
        }),
    })
}

fn version(u: &mut Unstructured<'_>) -> Result<Version> {
    Ok(Version {
        id: VersionId(number(u)?),
        entity: entity(u)?,
        slice: SliceHash(hash(u)?),
        spans: list(u, span)?,
        figures: Figures {
            nodes: u.arbitrary()?,
            tokens: u.arbitrary()?,
        },
    })
}

fn report(u: &mut Unstructured<'_>) -> Result<GateReport> {
    Ok(GateReport {
        verdicts: list(u, |u| {
            Ok(Verdict {
                rule: reason(u)?,
                met: u.arbitrary()?,
                seen: u.arbitrary()?,
                needed: u.arbitrary()?,
            })
        })?,
        conclusion: maybe(u, reason)?,
        passed: u.arbitrary()?,
    })
}

/// The number of an id, nearly always one of a few.
fn number(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(match u.int_in_range(0..=999_u16)? {
        0 => u64::MAX,
        1 => u64::MAX - 1,
        2 => u.arbitrary()?,
        other => u64::from(other % 6),
    })
}

/// A count, nearly always small.
fn small_count(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match u.int_in_range(0..=99_u8)? {
        0 => u32::MAX,
        other => u32::from(other % 7),
    })
}

fn span(u: &mut Unstructured<'_>) -> Result<Span> {
    let (a, b) = (small_count(u)?, small_count(u)?);
    Ok(Span {
        start: a.min(b),
        end: a.max(b),
    })
}

fn hash(u: &mut Unstructured<'_>) -> Result<[u8; 32]> {
    Ok([u.int_in_range(0..=5_u8)?; 32])
}

fn artifact(u: &mut Unstructured<'_>) -> Result<ArtifactHash> {
    Ok(ArtifactHash(hash(u)?))
}

fn path(u: &mut Unstructured<'_>) -> Result<RelPath> {
    Ok(RelPath::from_normalised(pick(
        u,
        &["a.c", "src/a.c", "lib/b.c"],
    )?))
}

fn symbol(u: &mut Unstructured<'_>) -> Result<Symbol> {
    Ok(Symbol::new(pick(u, &["one", "ns::one", "two", "T::two"])?))
}

fn entity(u: &mut Unstructured<'_>) -> Result<EntityId> {
    Ok(EntityId {
        path: path(u)?,
        symbol: maybe(u, symbol)?,
    })
}

fn origin(u: &mut Unstructured<'_>) -> Result<Origin> {
    pick(u, &[Origin::Model, Origin::User])
}

fn content_kind(u: &mut Unstructured<'_>) -> Result<ContentKind> {
    pick(
        u,
        &[ContentKind::Message, ContentKind::Reply, ContentKind::Code],
    )
}

fn grammar(_: &mut Unstructured<'_>) -> Result<GrammarTag> {
    Ok(GrammarTag {
        language: "c".into(),
        version: "1".into(),
    })
}

fn reason(u: &mut Unstructured<'_>) -> Result<Reason> {
    pick(u, Reason::ALL)
}

fn pick<T: Copy>(u: &mut Unstructured<'_>, from: &[T]) -> Result<T> {
    u.choose(from).copied()
}

fn maybe<T>(
    u: &mut Unstructured<'_>,
    make: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if u.arbitrary()? {
        make(u).map(Some)
    } else {
        Ok(None)
    }
}

fn list<T>(
    u: &mut Unstructured<'_>,
    make: impl Fn(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    (0..u.int_in_range(0..=4_u8)?).map(|_| make(u)).collect()
}
