//! The state machine's moves for a resolved block, the same for both origins (spec §5, §6).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Recorder;
use crate::judge::found_code::FoundCode;
use crate::judge::resolve::{Candidate, Resolution};
use tslp_core::artifact::{Origin, Transition, Version};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ArtifactCaptured, ArtifactResolved, ContentKind, EditRef, Event, Transitioned,
    VersionsPromoted, Within,
};
use tslp_core::gate::{Completeness, GateReport};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, VersionId};
use tslp_core::reason::Reason;
use tslp_core::slice::Span;

/// The pieces in which the Vault holds a message's text: address, start and end in the message, in bytes.
#[derive(Clone, Debug, Default)]
pub struct MessagePieces {
    pieces: Vec<(ArtifactHash, usize, usize)>,
}

impl MessagePieces {
    /// Pieces in order, with their lengths in bytes.
    #[must_use]
    pub fn new(pieces: impl IntoIterator<Item = (ArtifactHash, usize)>) -> Self {
        let mut at = 0;
        let pieces = pieces
            .into_iter()
            .map(|(hash, len)| {
                let start = at;
                at += len;
                (hash, start, at)
            })
            .collect();
        Self { pieces }
    }

    /// The pieces' addresses, in order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = ArtifactHash> {
        self.pieces.iter().map(|(hash, _, _)| *hash)
    }

    /// The one piece that holds the whole range, if one does.
    fn piece_holding(&self, range: &core::ops::Range<usize>) -> Option<Within> {
        let (container, start, _) = self
            .pieces
            .iter()
            .find(|(_, start, end)| *start <= range.start && range.end <= *end)?;
        Some(Within {
            container: *container,
            span: Span {
                start: u32::try_from(range.start - start).ok()?,
                end: u32::try_from(range.end - start).ok()?,
            },
        })
    }
}

/// A block of code with its message and its resolution.
pub struct ResolvedBlock<'f> {
    /// The episode whose message holds it.
    pub episode: EpisodeId,
    /// Its origin.
    pub origin: Origin,
    /// Whether the block is complete.
    pub completeness: Completeness,
    /// The block.
    pub found: &'f FoundCode,
    /// Its message's pieces in the Vault.
    pub containers: &'f MessagePieces,
    /// The entities that it resolved to.
    pub resolution: &'f Resolution,
}

/// Records a block and its resolution. `candidates` are those that say something new. Returns their versions, in order.
pub fn record_block(
    recorder: &mut Recorder<'_>,
    block: &ResolvedBlock<'_>,
    candidates: &[&Candidate],
) -> Vec<Version> {
    let ResolvedBlock {
        found, resolution, ..
    } = block;
    let within = found
        .verbatim
        .as_ref()
        .and_then(|range| block.containers.piece_holding(range));
    // Code that is verbatim in a recorded message is stored as a range of it: most blocks then cost no bytes.
    if within.is_none() {
        recorder.store_as(found.artifact, ContentKind::Code, Arc::clone(&found.code));
    }
    let edit = found.edit.as_ref().map(|edit| EditRef {
        texts: edit
            .texts
            .iter()
            // Each by itself: models repeat the texts that they replace, and a repeated one costs nothing.
            .map(|text| recorder.store(ContentKind::Code, text.as_bytes()))
            .collect(),
        bases: edit
            .outcome
            .as_ref()
            .map_or_else(|_| Vec::new(), |applied| applied.changed.clone()),
    });
    let code_bytes = found.code.len();
    debug_assert!(
        candidates
            .iter()
            .flat_map(|candidate| &candidate.spans)
            .all(|span| span.start <= span.end && span.end as usize <= code_bytes),
        "a version's ranges are in its code"
    );
    // One block a decision: the ids that follow are those of the state, which folds this block before the next is decided.
    let capture = recorder.view.next_capture();
    let mut next_version = recorder.view.next_version();
    recorder.push(Event::ArtifactCaptured(ArtifactCaptured {
        capture,
        origin: block.origin,
        artifact: found.artifact,
        within,
        format: found.format,
        edit,
        language: found.language.clone(),
        evidence: found.evidence,
        path: found.usable_path().cloned(),
        completeness: block.completeness,
    }));
    let versions: Vec<Version> = candidates
        .iter()
        .map(|candidate| {
            let id = next_version;
            next_version = id.next();
            Version {
                id,
                entity: candidate.entity.clone(),
                slice: candidate.slice,
                spans: candidate.spans.clone(),
                figures: candidate.figures,
            }
        })
        .collect();
    recorder.push(Event::ArtifactResolved(ArtifactResolved {
        capture,
        level: resolution.level,
        reason: resolution.reason,
        grammar: found
            .extraction
            .as_ref()
            .ok()
            .map(|extraction| extraction.grammar.clone()),
        patterns: found.patterns,
        extent: resolution.extent,
        versions: versions.clone(),
    }));
    versions
}

/// Moves one version to AUTHORITATIVE, with everything that follows: the old truth is superseded, and proposals that
/// were open for the entity are discarded.
pub fn promote(
    recorder: &mut Recorder<'_>,
    origin: Origin,
    (version, entity): (VersionId, &EntityId),
    report: GateReport,
) {
    let step = |version, transition, cause, report| {
        Event::Transitioned(Transitioned {
            version,
            entity: entity.clone(),
            transition,
            origin,
            cause,
            report,
        })
    };
    // The order matters: a fold treats the promotion of an entity that still has an authoritative version as an anomaly.
    let discarded_for = match origin {
        Origin::User => Reason::ProposalOverruled,
        Origin::Model | Origin::Unattributed => Reason::Replaced,
    };
    discard_proposals(recorder, origin, entity, discarded_for, Some(version));
    if let Some(current) = recorder.current_version_id(entity) {
        recorder.push(step(current, Transition::Supersede, Reason::Replaced, None));
    }
    let grant = report.conclusion.unwrap_or(Reason::StructuralParity);
    recorder.push(step(version, Transition::Promote, grant, Some(report)));
}

/// Says promotions that follow one another and say the same of a block's versions in one event: a file has hundreds, and an event for
/// each would be most of the ledger of a big project.
pub fn together(events: Vec<Event>) -> Vec<Event> {
    let mut said: Vec<Event> = Vec::new();
    for event in events {
        let last = said.last_mut();
        match (last, promoted_alone(&event)) {
            (Some(Event::VersionsPromoted(last)), Some(next)) if is_next(last, &next) => {
                last.symbols.extend(next.symbols);
            }
            (_, Some(next)) => said.push(Event::VersionsPromoted(next)),
            (_, None) => said.push(event),
        }
    }
    said
}

fn promoted_alone(event: &Event) -> Option<VersionsPromoted> {
    match event {
        Event::Transitioned(moved) if moved.transition == Transition::Promote => {
            Some(VersionsPromoted {
                first: moved.version,
                path: moved.entity.path.clone(),
                symbols: Vec::from([moved.entity.symbol.clone()]),
                origin: moved.origin,
                cause: moved.cause,
                report: moved.report.clone(),
            })
        }
        _ => None,
    }
}

fn is_next(last: &VersionsPromoted, next: &VersionsPromoted) -> bool {
    last.first.0 + last.symbols.len() as u64 == next.first.0
        && (&last.path, last.origin, last.cause) == (&next.path, next.origin, next.cause)
        && last.report == next.report
}

/// Discards the proposals that are open for an entity, but one of them.
pub fn discard_proposals(
    recorder: &mut Recorder<'_>,
    origin: Origin,
    entity: &EntityId,
    cause: Reason,
    kept: Option<VersionId>,
) {
    for proposal in recorder.view.proposals_for(entity) {
        if kept == Some(proposal.version) || recorder.has_moved(proposal.version) {
            continue;
        }
        recorder.push(Event::Transitioned(Transitioned {
            version: proposal.version,
            entity: proposal.entity,
            transition: Transition::Discard,
            origin,
            cause,
            report: None,
        }));
    }
}

/// Takes an entity out of the State Map by the user's word (spec §9.2).
pub fn remove_entity(recorder: &mut Recorder<'_>, entity: EntityId, cause: Reason) {
    let Some(current) = recorder.view.current_version(&entity) else {
        return;
    };
    recorder.push(Event::Transitioned(Transitioned {
        version: current.version,
        entity,
        transition: Transition::Remove,
        origin: Origin::User,
        cause,
        report: None,
    }));
}
