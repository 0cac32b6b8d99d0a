//! The model's code: captured, resolved, judged by the gates, promoted as a whole or not at all (spec §4–§7, §15.5).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::Recorder;
use super::found_code::FoundCode;
use super::observe;
use super::promote::{self, Containers, Finding};
use super::resolve::{self, Candidate, Resolution};
use crate::artifact::{Level, Origin, Version};
use crate::entity::{EntityId, Symbol};
use crate::event::{DiskFinding, Event, Extent, NoticeIssued, PromotionRefused};
use crate::gate::{self, BaseVerdict, DiskVerdict, Facts, GateReport};
use crate::ids::{EpisodeId, SessionId};
use crate::path::RelPath;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::slice::Span;
use crate::view::{Current, Divergence, View};

/// Decides about one block of the model's. The state must already hold what disk says of the block's path, by an
/// observation of this episode.
#[must_use]
pub fn propose(
    view: &dyn View,
    policy: &Policy,
    episode: EpisodeId,
    session: SessionId,
    found: &FoundCode,
    containers: &Containers,
) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    let resolution = resolve::resolve(view, found, Origin::Model);
    let changed: Vec<&Candidate> = resolution
        .candidates
        .iter()
        .filter(|candidate| !is_true_already(view, candidate))
        .collect();
    let finding = Finding {
        episode,
        origin: Origin::Model,
        found,
        containers,
        resolution: &resolution,
    };
    let versions = promote::record(&mut recorder, &finding, &changed);
    let base = Base::of(view, &resolution);
    let repeated = resolution
        .candidates
        .iter()
        .filter(|candidate| is_true_already(view, candidate));
    let disk = repeated
        .map(|candidate| disk_verdict(view, candidate))
        .find(|verdict| *verdict != DiskVerdict::Agrees);
    let reports: Vec<GateReport> = changed
        .iter()
        .map(|candidate| {
            let mut facts = facts(&finding, &base, candidate);
            // A block that repeats STALE code was written on it, whatever else it changes.
            if facts.disk == DiskVerdict::Agrees {
                facts.disk = disk.unwrap_or(DiskVerdict::Agrees);
            }
            gate::judge(&facts, policy.thresholds, policy.profile)
        })
        .collect();
    match reports.iter().position(|report| !report.passed) {
        None => {
            for (version, report) in versions.iter().zip(reports) {
                let version = (version.id, &version.entity);
                promote::promote(&mut recorder, episode, Origin::Model, version, report);
            }
            let promoted = versions.iter().map(|version| &version.entity);
            promote::supersede_older_whole(&mut recorder, episode, Origin::Model, promoted);
        }
        Some(first) => refuse(&mut recorder, episode, &versions, reports, first),
    }
    if let Some((reason, entity)) = complaint(found, &resolution, recorder.refused()) {
        recorder.push(Event::NoticeIssued(NoticeIssued {
            episode,
            session,
            reason,
            entity,
        }));
    }
    recorder.into_events()
}

fn is_true_already(view: &dyn View, candidate: &Candidate) -> bool {
    view.current(&candidate.entity)
        .is_some_and(|current| current.slice == candidate.slice)
}

/// A block stands or falls as a whole, because its reader would apply it as a whole: what passed by itself is kept out
/// for the first one that didn't.
fn refuse(
    recorder: &mut Recorder<'_>,
    episode: EpisodeId,
    versions: &[Version],
    reports: Vec<GateReport>,
    first: usize,
) {
    let conclusion = reports[first].conclusion;
    for (version, mut report) in versions.iter().zip(reports) {
        if report.passed {
            report.passed = false;
            report.conclusion = conclusion;
        }
        recorder.push(Event::PromotionRefused(PromotionRefused {
            episode,
            version: version.id,
            entity: version.entity.clone(),
            report,
        }));
    }
}

impl Recorder<'_> {
    /// The first refusal's reason and entity. A refusal is recorded with the rule that caused it, so of several the
    /// one that failed by itself is named.
    fn refused(&self) -> Option<(Reason, EntityId)> {
        let refusals = self.events.iter().filter_map(|event| match event {
            Event::PromotionRefused(refused) => Some(refused),
            _ => None,
        });
        let by_itself = |refused: &&PromotionRefused| {
            refused
                .report
                .verdicts
                .iter()
                .any(|verdict| is_needed(verdict.rule) && !verdict.met)
        };
        refusals
            .clone()
            .find(by_itself)
            .or_else(|| refusals.clone().next())
            .and_then(|refused| Some((refused.report.conclusion?, refused.entity.clone())))
    }
}

/// Whether failing this rule alone keeps a version out; of gate B's grants any one is enough.
fn is_needed(rule: Reason) -> bool {
    !matches!(rule, Reason::WriteHead | Reason::StructuralParity)
}

/// What the next prompt should say of this block.
fn complaint(
    found: &FoundCode,
    resolution: &Resolution,
    refused: Option<(Reason, EntityId)>,
) -> Option<(Reason, Option<EntityId>)> {
    if resolution.level != Level::Confirmed {
        return found.claims_an_entity().then_some((Reason::Unlinked, None));
    }
    refused.map(|(reason, entity)| (reason, Some(entity)))
}

/// The tracked symbols of the block's file, and what the block does to them.
struct Base<'v> {
    view: &'v dyn View,
    tracked: Vec<Symbol>,
    in_block: BTreeSet<&'v Symbol>,
    damaged: &'v [Symbol],
}

impl<'v> Base<'v> {
    fn of(view: &'v dyn View, resolution: &'v Resolution) -> Self {
        Self {
            view,
            tracked: resolution
                .path
                .as_ref()
                .map_or_else(Vec::new, |path| view.symbols_of(path)),
            in_block: resolution
                .candidates
                .iter()
                .filter_map(|candidate| candidate.entity.symbol.as_ref())
                .collect(),
            damaged: &resolution.damaged,
        }
    }

    /// How many definitions must still be there, and how many of them aren't. Of a whole file these are all of its
    /// symbols; of a fragment those nested in the definition that is replaced, and those that the block would damage.
    /// Several definitions of one symbol count each.
    fn definitions(
        &self,
        extent: Extent,
        candidate: &Candidate,
        current: Option<&Current>,
    ) -> (usize, usize) {
        let path = &candidate.entity.path;
        let concerns = |symbol: &Symbol| {
            extent == Extent::WholeFile
                || self.damaged.contains(symbol)
                || current.is_some_and(|current| self.is_within(path, symbol, current))
        };
        let symbols = self.tracked.iter().filter(|symbol| concerns(symbol));
        let (all, missing) = symbols.fold((0, 0), |(all, missing), symbol| {
            (
                all + 1,
                missing + usize::from(!self.in_block.contains(symbol)),
            )
        });
        let before = current.map_or(1, |current| current.spans.len());
        let lost = before.saturating_sub(candidate.spans.len());
        (all + before.saturating_sub(1), missing + lost)
    }

    /// Whether the symbol's current definition stands inside `outer`, or is it.
    fn is_within(&self, path: &RelPath, symbol: &Symbol, outer: &Current) -> bool {
        let entity = EntityId::symbol(path.clone(), symbol.clone());
        self.view.current(&entity).is_some_and(|inner| {
            let is_inside = |span: &Span| {
                outer
                    .spans
                    .iter()
                    .any(|around| around.start <= span.start && span.end <= around.end)
            };
            inner.artifact == outer.artifact && inner.spans.iter().all(is_inside)
        })
    }
}

fn facts(finding: &Finding<'_>, base: &Base<'_>, candidate: &Candidate) -> Facts {
    let current = base.view.current(&candidate.entity);
    let (definitions, missing) =
        base.definitions(finding.resolution.extent, candidate, current.as_ref());
    Facts {
        origin: Origin::Model,
        level: finding.resolution.level,
        completeness: finding.found.completeness,
        figures: candidate.figures,
        base: current.map(|current| current.figures),
        symbols_missing: count(missing),
        symbols_of_base: count(definitions),
        base_verdict: base_verdict(base.view, finding.episode, candidate),
        disk: disk_verdict(base.view, candidate),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What this very reply changed before doesn't count as having moved.
fn base_verdict(view: &dyn View, episode: EpisodeId, candidate: &Candidate) -> BaseVerdict {
    let entity = &candidate.entity;
    match (view.shown(episode, entity), view.current(entity)) {
        (Some(shown), Some(current)) if current.version != shown && current.episode != episode => {
            BaseVerdict::Moved
        }
        _ => BaseVerdict::Unmoved,
    }
}

fn disk_verdict(view: &dyn View, candidate: &Candidate) -> DiskVerdict {
    let entity = &candidate.entity;
    match (view.divergence(entity), view.disk(&entity.path)) {
        (Some(Divergence::Unreadable), _) | (None, Some(DiskFinding::Unreadable(_))) => {
            DiskVerdict::Unreadable
        }
        (Some(_), _) => DiskVerdict::Stale,
        (None, Some(DiskFinding::File(_))) if view.current(entity).is_none() => {
            match observe::slice_on_disk(view, entity) {
                Some(slice) if slice != candidate.slice => DiskVerdict::Unacknowledged,
                _ => DiskVerdict::Agrees,
            }
        }
        (None, _) => DiskVerdict::Agrees,
    }
}
