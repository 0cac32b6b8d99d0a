//! The shadow audit: when it is asked for, and the effects of its answer (spec §10).

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::judge::holders;
use crate::judge::promote;
use crate::judge::propose::{base_verdict_since, disk_verdict};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::audit::{self, AuditQuestion};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    AuditAnswered, AuditAsked, AuditOutcome, AuditStatus, AuditVerdict, Audited, ContentKind, Event,
};
use tslp_core::gate::LateGrant;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::limits::BYTES_PER_TOKEN;
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, Policy};
use tslp_core::reason::Reason;
use tslp_projections::proposals::Proposal;

/// Asks for an audit of a judgement, if the policy wants one. `judged` are the events of the judgement.
#[must_use]
pub fn ask_for_audit<'e>(
    view: &StateView<'_>,
    policy: &Policy,
    asked: &str,
    judged: impl IntoIterator<Item = &'e Event>,
) -> Option<(Event, AuditQuestion)> {
    let about: Vec<Audited> = judged
        .into_iter()
        .filter_map(|event| auditable_version(policy.audit, event))
        .collect();
    let code: Vec<(&Audited, String)> = about
        .iter()
        .filter_map(|audited| Some((audited, code_of(view, audited)?)))
        .collect();
    let bytes: usize = code.iter().map(|(_, code)| code.len()).sum();
    let fits = asked.len() + bytes <= policy.budget_tokens as usize * BYTES_PER_TOKEN;
    if code.is_empty() || !fits {
        return None;
    }
    let code = code.iter().map(|(audited, code)| (*audited, code.as_str()));
    let question = audit::question(asked, code);
    Some((Event::AuditAsked(AuditAsked { about }), question))
}

/// The version in an event of the judgement that is to be audited. A whole file is audited by its parts.
fn auditable_version(choice: AuditChoice, event: &Event) -> Option<Audited> {
    let (version, entity, lacks_grant) = match event {
        Event::PromotionRefused(refused) => {
            let lacks_grant = refused.report.conclusion == Some(Reason::GrantMissing);
            (refused.version, &refused.entity, lacks_grant)
        }
        Event::Transitioned(moved) if moved.transition == Transition::Promote => {
            (moved.version, &moved.entity, false)
        }
        _ => return None,
    };
    let is_wanted = match choice {
        AuditChoice::Off => false,
        AuditChoice::On => true,
        AuditChoice::Auto => lacks_grant,
    };
    (is_wanted && entity.symbol.is_some()).then(|| Audited {
        version,
        entity: entity.clone(),
    })
}

fn code_of(view: &StateView<'_>, audited: &Audited) -> Option<String> {
    let proposals = view.proposals_for(&audited.entity);
    let proposal = proposals
        .iter()
        .find(|proposal| proposal.version == audited.version);
    let bytes = match proposal {
        Some(proposal) => view.artifact_slices(proposal.artifact, &proposal.spans),
        None => view
            .current_version(&audited.entity)
            .filter(|current| current.version == audited.version)
            .and_then(|current| view.artifact_slices(current.artifact, &current.spans)),
    };
    String::from_utf8(bytes?).ok()
}

/// The files that must be observed before an answer can promote anything.
#[must_use]
pub fn audited_files(view: &StateView<'_>, episode: EpisodeId) -> Vec<RelPath> {
    let about = view.audit_under_way(episode).unwrap_or_default();
    let files: BTreeSet<RelPath> = about
        .into_iter()
        .map(|audited| audited.entity.path)
        .collect();
    files.into_iter().collect()
}

/// Decides about an audit's end. `answer` is already redacted. The state must hold fresh observations of [`audited_files`].
#[must_use]
pub fn audit_answered(
    view: &StateView<'_>,
    episode: EpisodeId,
    outcome: AuditOutcome,
    answer: Option<&str>,
) -> Vec<Event> {
    let Some(about) = view.audit_under_way(episode) else {
        return Vec::new();
    };
    let mut recorder = Recorder::new(view);
    let verdicts = answer
        .filter(|_| outcome == AuditOutcome::Answered)
        .and_then(|answer| audit::parse_verdicts(answer, &about));
    let stored = answer.map(|answer| recorder.store(ContentKind::Reply, answer.as_bytes()));
    recorder.push(Event::AuditAnswered(AuditAnswered {
        outcome: match (outcome, &verdicts) {
            (AuditOutcome::Answered, None) => AuditOutcome::NoAnswer,
            (outcome, _) => outcome,
        },
        answer: stored,
        verdicts: verdicts.clone().unwrap_or_default(),
    }));
    let Some(session) = view.state.sessions().of(episode) else {
        return recorder.into_events();
    };
    let verdicts = verdicts.unwrap_or_default();
    // A late answer promotes nothing: the user has gone on, and may have decided otherwise in the meantime.
    if view.state.sessions().is_of_last_turn(session, episode) {
        promote_completed(&mut recorder, view, (episode, session), &verdicts);
    }
    notify_contested(&mut recorder, (episode, session), &verdicts);
    recorder.into_events()
}

/// Promotes the blocks that the audit found complete before the user's next prompt. A block passes or fails as a whole.
fn promote_completed(
    recorder: &mut Recorder<'_>,
    view: &StateView<'_>,
    (episode, session): (EpisodeId, SessionId),
    verdicts: &[AuditVerdict],
) {
    let of_reply: Vec<Proposal> = view
        .proposals_in(session)
        .into_iter()
        .filter(|proposal| proposal.episode == episode)
        .collect();
    let block_of = |proposal: &Proposal| (proposal.artifact, proposal.entity.path.clone());
    let blocks: BTreeSet<(ArtifactHash, RelPath)> = of_reply.iter().map(block_of).collect();
    for block in blocks {
        let versions: Vec<&Proposal> = of_reply
            .iter()
            .filter(|proposal| block_of(proposal) == block)
            .collect();
        let reports: Option<Vec<_>> = versions
            .iter()
            .map(|proposal| {
                let report = proposal.report.clone()?;
                let is_complete =
                    proposal.entity.symbol.is_none() || is_completed(verdicts, proposal);
                let disk = disk_verdict(view, &proposal.entity, proposal.slice);
                let report = report.with_late_grant(
                    LateGrant::ShadowAudit,
                    base_verdict_since(view, proposal),
                    disk,
                );
                (is_complete
                    && report.passed
                    && proposal.refused_for() == Some(Reason::GrantMissing))
                .then_some(report)
            })
            .collect();
        let Some(reports) = reports else { continue };
        let audited = versions
            .iter()
            .any(|proposal| is_completed(verdicts, proposal));
        let is_moot = |proposal: &&Proposal| recorder.has_moved(proposal.version);
        if !audited || versions.iter().any(is_moot) {
            continue;
        }
        for (proposal, report) in versions.iter().zip(reports) {
            let version = (proposal.version, &proposal.entity);
            promote::promote(recorder, Origin::Model, version, report);
        }
        let promoted: Vec<&EntityId> = versions.iter().map(|proposal| &proposal.entity).collect();
        holders::supersede_holders(recorder, Origin::Model, promoted);
    }
}

fn is_completed(verdicts: &[AuditVerdict], proposal: &Proposal) -> bool {
    verdicts.iter().any(|verdict| {
        verdict.version == proposal.version && verdict.status == AuditStatus::Completed
    })
}

/// Issues notices about the versions that the audit doubts, even if the answer is late.
fn notify_contested(
    recorder: &mut Recorder<'_>,
    (episode, session): (EpisodeId, SessionId),
    verdicts: &[AuditVerdict],
) {
    for verdict in verdicts {
        if verdict.status != AuditStatus::Completed {
            recorder.notify(
                (episode, session),
                Reason::AuditContested,
                verdict.entity.clone(),
            );
        }
    }
}
