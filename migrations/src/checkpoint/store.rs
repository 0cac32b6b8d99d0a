//! From parts to their layouts. Texts aren't copied.

use tslp_core::entity::Symbol;
use tslp_core::extract::Proof;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::view::Divergence;
use tslp_projections::audits::Answer;
use tslp_projections::episodes;
use tslp_projections::part::Part;
use tslp_projections::proposals::Proposed;
use tslp_projections::sessions;
use tslp_projections::state_map;

use super::layout::{self, difference, proof};
use crate::v1::codes::Code;

/// Builds the layouts of a list.
fn list<'a, T, L>(items: &'a [T], layout: impl Fn(&'a T) -> L) -> Vec<L> {
    items.iter().map(layout).collect()
}

impl<'a> From<&'a Part> for layout::Part<'a> {
    fn from(part: &'a Part) -> Self {
        match part {
            Part::Sources(items) => Self::Sources(list(items, |(hash, count)| (hash.0, *count))),
            Part::Truths(items) => Self::Truths(list(items, layout::FileTruths::from)),
            Part::Superseded(items) => Self::Superseded(list(items, |(entity, versions)| {
                let versions = list(versions, |former| layout::FormerVersion {
                    slice: former.slice.0,
                    artifact: former.artifact.0,
                    spans: list(&former.spans, |span| (span.start, span.end)),
                    origin: former.origin.code(),
                    episode: former.episode.0,
                });
                (entity.into(), versions)
            })),
            Part::Proposals(items) => Self::Proposals(list(items, layout::Proposed::from)),
            Part::ProposalOrder(items) => Self::ProposalOrder(list(items, |(entity, open)| {
                (entity.into(), list(open, |version| version.0))
            })),
            Part::ProposalIds(capture, version) => Self::ProposalIds(capture.0, version.0),
            Part::Tombstones(items) => {
                Self::Tombstones(list(items, |(entity, version, episode)| {
                    (entity.into(), version.0, episode.0)
                }))
            }
            Part::Disk(items) => Self::Disk(list(items, |(path, finding, seq)| layout::Look {
                path: path.as_str(),
                finding: finding.into(),
                seq: seq.0,
            })),
            Part::Differing(items) => Self::Differing(list(items, |(entity, divergence)| {
                (entity.into(), difference_code(*divergence))
            })),
            Part::Acknowledged(items) => Self::Acknowledged(list(items, |(entity, seen)| {
                (entity.into(), seen.map(|slice| slice.0))
            })),
            Part::Sessions(items) => {
                Self::Sessions(list(items, |(id, session)| session_layout(*id, session)))
            }
            Part::SessionNames(items) => {
                Self::SessionNames(list(items, |(name, session)| layout::Named {
                    name,
                    session: session.0,
                }))
            }
            Part::SessionPoints(items) => {
                Self::SessionPoints(list(items, |(point, id, length)| (point.0, id.0, *length)))
            }
            Part::SessionTails(items) => {
                Self::SessionTails(list(items, |(hash, id)| (hash.0, id.0)))
            }
            Part::SessionReplies(items) => {
                Self::SessionReplies(list(items, |(hash, id)| (hash.0, id.0)))
            }
            Part::SessionPrompts(items) => {
                Self::SessionPrompts(list(items, |(hash, id)| (hash.0, id.0)))
            }
            Part::SessionEpisodes(items) => {
                Self::SessionEpisodes(list(items, |(episode, id)| (episode.0, id.0)))
            }
            Part::UnderWay(items) => {
                Self::UnderWay(list(items, |(episode, count)| (episode.0, *count)))
            }
            Part::SessionIds(session, episode) => Self::SessionIds(session.0, episode.0),
            Part::Episodes(items) => {
                Self::Episodes(list(items, |(id, episode)| episode_layout(*id, episode)))
            }
            Part::Audits(items) => {
                Self::Audits(list(items, |(episode, version, audit)| layout::Audit {
                    episode: episode.0,
                    version: version.0,
                    entity: (&audit.entity).into(),
                    answer: (&audit.answer).into(),
                }))
            }
            Part::Anomalies(items) => Self::Anomalies(list(items, |(seq, event)| {
                layout::Anomaly { seq: seq.0, event }
            })),
            Part::Rules(rules) => Self::Rules((&**rules).into()),
        }
    }
}

const fn difference_code(divergence: Option<Divergence>) -> u8 {
    match divergence {
        None => difference::ACKNOWLEDGED,
        Some(Divergence::Unknown) => difference::UNKNOWN,
        Some(Divergence::Superseded) => difference::SUPERSEDED,
        Some(Divergence::Unreadable) => difference::UNREADABLE,
    }
}

const fn proof_code(found: Proof) -> u8 {
    match found {
        Proof::PartialPattern => proof::PARTIAL_PATTERN,
        Proof::Pattern => proof::PATTERN,
        Proof::Ast => proof::AST,
    }
}

impl<'a> From<&'a state_map::FileTruths> for layout::FileTruths<'a> {
    fn from(file: &'a state_map::FileTruths) -> Self {
        Self {
            path: file.path.as_str(),
            truths: list(&file.truths, layout::Truth::from),
        }
    }
}

impl<'a> From<&'a state_map::Truth> for layout::Truth<'a> {
    fn from(truth: &'a state_map::Truth) -> Self {
        Self {
            symbol: truth.symbol.as_ref().map(Symbol::as_str),
            slice: truth.slice.0,
            source: truth.source.0,
            spans: list(&truth.spans, |span| (span.start, span.end)),
            nodes: truth.figures.nodes,
            tokens: truth.figures.tokens,
            origin: truth.origin.code(),
            proof: proof_code(truth.proof),
            version: truth.version.0,
            episode: truth.episode.0,
            seq: truth.seq.0,
            at: truth.at.0,
        }
    }
}

impl<'a> From<&'a Proposed> for layout::Proposed<'a> {
    fn from(proposed: &'a Proposed) -> Self {
        Self {
            version: (&proposed.version).into(),
            source: proposed.source.0,
            level: proposed.level.code(),
            proof: proof_code(proposed.proof),
            origin: proposed.origin.code(),
            episode: proposed.episode.0,
            session: proposed.session.0,
            report: proposed.report.as_ref().map(Into::into),
            rename_of: proposed.rename_of.as_ref().map(Into::into),
        }
    }
}

fn session_layout(id: SessionId, session: &sessions::Session) -> layout::Session<'_> {
    layout::Session {
        id: id.0,
        name: session.name.as_deref(),
        plain: session.plain,
        length: session.length,
        points: (session.points.iter())
            .map(|point| (point.transcript.0, point.length, point.episode.0))
            .collect(),
        head: session.head.map(|hash| hash.0),
        tail: session.tail.map(|hash| hash.0),
        reply: session.reply.map(|key| key.0),
        last_prompt: (session.last_prompt).map(|(transcript, length)| (transcript.0, length)),
        open: session.open.as_ref().map(Into::into),
        last_episode: session.last_episode.0,
        before_last: session.before_last.0,
        exchanges: (session.exchanges.iter())
            .map(|(exchange, length)| layout::Exchange {
                user: list(&exchange.user, |hash| hash.0),
                assistant: list(&exchange.assistant, |hash| hash.0),
                length: *length,
            })
            .collect(),
        hydration_order: list(&session.hydration_order, Into::into),
        shown: list(&session.shown, |(entity, version)| {
            (entity.into(), version.0)
        }),
        last_shown: (session.last_shown.iter())
            .map(|(entity, version)| (entity.into(), version.0))
            .collect(),
        notices: (session.notices.iter())
            .map(|pending| ((&pending.notice).into(), pending.was_shown))
            .collect(),
        injected: session.injected.iter().map(Into::into).collect(),
        withheld: session.withheld.iter().map(Into::into).collect(),
        ancestors: list(&session.ancestors, |(session, episode)| {
            (session.0, episode.0)
        }),
        refused: (session.refused.iter())
            .map(|(path, episode)| layout::RefusedFile {
                path: path.as_str(),
                episode: episode.0,
            })
            .collect(),
    }
}

impl From<&sessions::Open> for layout::Open {
    fn from(open: &sessions::Open) -> Self {
        Self {
            episode: open.episode.0,
            transcript: open.transcript.0,
            length: open.length,
            user_key: open.user_key.map(|key| key.0),
            user: list(&open.user, |hash| hash.0),
            in_flight: open.in_flight,
            in_tool_chain: open.in_tool_chain,
        }
    }
}

fn episode_layout(id: EpisodeId, episode: &episodes::Episode) -> layout::Episode<'_> {
    layout::Episode {
        id: id.0,
        session: episode.session.0,
        at: episode.at.0,
        model: &episode.model,
        outcome: episode.outcome.map(Into::into),
        history: episode.history.map(Code::code),
        price: episode.price.as_ref().map(Into::into),
        entries: (episode.entries.iter())
            .map(|entry| layout::Entry {
                what: entry.what,
                entity: entry.entity.as_ref().map(Into::into),
                reason: entry.reason.code(),
            })
            .collect(),
        first: episode.first,
    }
}

impl From<&Answer> for layout::Answer {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Awaited => Self::Awaited,
            Answer::Given(status) => Self::Given(Code::code(*status)),
            Answer::None(outcome) => Self::None(Code::code(*outcome)),
        }
    }
}
