//! The user as write-head: code that the user supplies is true at once (spec §6, §9.1, §9.2).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::Recorder;
use super::found_code::FoundCode;
use super::observe;
use super::promote::{self, Containers, Finding};
use super::repeat::{self, Repeat};
use super::resolve::{self, Candidate, Resolution};
use crate::artifact::{Level, Origin, Version};
use crate::entity::{EntityId, Symbol};
use crate::event::{DiskFinding, Event, Extent, NoticeIssued};
use crate::gate::{self, Completeness, Thresholds};
use crate::hash::SliceHash;
use crate::ids::{EpisodeId, SessionId};
use crate::reason::Reason;
use crate::view::View;

/// Where in the request a block of the user's stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the current prompt: an explicit act, also when it repeats something old.
    CurrentPrompt,
    /// In a prompt that was said before, word for word: it counts as far as [`Repeat`] says.
    Again,
    /// In an older message that the ledger didn't know, or one that was answered: context that the client sends along. It
    /// counts where nothing is true yet, where there is no file, and where disk holds it.
    Context,
    /// On disk, which the user accepted: all of the file, or one symbol of it.
    Disk(Option<Symbol>),
}

/// Decides about one block of the user's. The state must already hold what disk says of the block's path.
#[must_use]
pub fn write_head(
    view: &dyn View,
    thresholds: Thresholds,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    containers: &Containers,
    place: &Place,
) -> Vec<Event> {
    if *place == Place::Context && view.holds(found.artifact) {
        return Vec::new();
    }
    let mut resolution = resolve::resolve(view, thresholds, found, Origin::User);
    if let Place::Disk(Some(symbol)) = place {
        resolution.extent = Extent::Fragment;
        resolution
            .candidates
            .retain(|candidate| candidate.entity.symbol.as_ref() == Some(symbol));
    }
    decide(
        view,
        (episode, session),
        found,
        containers,
        place,
        &resolution,
    )
}

/// Decides about a file that the user takes as it stands on disk, one of many: nothing is recorded, and nobody told,
/// where nothing changes. The state must already hold what disk says of the file.
#[must_use]
pub fn adopt(view: &dyn View, episode: EpisodeId, found: &FoundCode) -> Vec<Event> {
    let (place, session) = (Place::Disk(None), SessionId::default());
    // A file's path is known, so nothing is compared.
    let resolution = resolve::resolve(view, Thresholds::default(), found, Origin::User);
    if !counts(view, found, &resolution) {
        return Vec::new();
    }
    let new = new_candidates(view, session, (found, &resolution), None, &place, true);
    let omitted = omitted(view, found, &resolution);
    if new.is_empty() && omitted.is_empty() {
        return Vec::new();
    }
    let mut recorder = Recorder::new(view);
    let containers = &Containers::default();
    let finding = finding(episode, found, containers, &resolution);
    let versions = promote::record(&mut recorder, &finding, &new);
    make_true(&mut recorder, &finding, &versions, omitted);
    recorder.into_events()
}

fn decide(
    view: &dyn View,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    containers: &Containers,
    place: &Place,
    resolution: &Resolution,
) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    let counts = counts(view, found, resolution);
    let repeat = Repeat::new(view, found, containers);
    let repeat = (*place == Place::Again).then_some(&repeat);
    let new = new_candidates(view, session, (found, resolution), repeat, place, counts);
    let finding = finding(episode, found, containers, resolution);
    let versions = promote::record(&mut recorder, &finding, &new);
    if counts {
        let mut omitted = omitted(view, found, resolution);
        omitted.retain(|entity| *place != Place::Context || is_open(view, found, entity, None));
        if let Some(repeat) = repeat {
            let told = passed_over(repeat, resolution, &mut omitted);
            let told = repeat::told((episode, session), told);
            told.into_iter().for_each(|event| recorder.push(event));
        }
        make_true(&mut recorder, &finding, &versions, omitted);
    } else if let Some(reason) = complaint(view, found, resolution)
        && (reason != Reason::NoDefinition || is_expected(view, found, place))
    {
        recorder.push(Event::NoticeIssued(NoticeIssued {
            episode,
            session,
            reason,
            entity: found.usable_path().cloned().map(EntityId::file),
            other: None,
        }));
    }
    recorder.into_events()
}

const fn finding<'f>(
    episode: EpisodeId,
    found: &'f FoundCode,
    containers: &'f Containers,
    resolution: &'f Resolution,
) -> Finding<'f> {
    Finding {
        episode,
        origin: Origin::User,
        completeness: found.completeness,
        found,
        containers,
        resolution,
    }
}

fn new_candidates<'r>(
    view: &dyn View,
    session: SessionId,
    (found, resolution): (&FoundCode, &'r Resolution),
    repeat: Option<&Repeat<'_>>,
    place: &Place,
    counts: bool,
) -> Vec<&'r Candidate> {
    let candidates = resolution.candidates.iter();
    candidates
        .filter(|candidate| {
            let (entity, slice) = (&candidate.entity, Some(candidate.slice));
            repeat.is_none_or(|repeat| repeat.counts_for(entity, slice))
                && (*place != Place::Context || is_open(view, found, entity, slice))
        })
        .filter(|candidate| says_something_new(view, session, (found, candidate), place, counts))
        .collect()
}

/// What the block says otherwise than it is, and what doesn't count because it was said before; what the file keeps of
/// that is taken out of `omitted`.
fn passed_over(
    repeat: &Repeat<'_>,
    resolution: &Resolution,
    omitted: &mut Vec<EntityId>,
) -> Vec<EntityId> {
    let candidates = resolution.candidates.iter();
    let mut passed_over: Vec<EntityId> = candidates
        .filter(|candidate| repeat.passes_over(&candidate.entity, candidate.slice))
        .map(|candidate| candidate.entity.clone())
        .collect();
    omitted.retain(|entity| {
        let counts = repeat.counts_for(entity, None);
        if !counts {
            passed_over.push(EntityId::file(entity.path.clone()));
        }
        counts
    });
    passed_over
}

/// Promotes what says something new, and lets go of what the file no longer defines.
fn make_true(
    recorder: &mut Recorder<'_>,
    finding: &Finding<'_>,
    versions: &[Version],
    omitted: Vec<EntityId>,
) {
    let (episode, origin) = (finding.episode, finding.origin);
    for version in versions {
        let report = gate::write_head(finding.resolution.level, finding.completeness);
        let version = (version.id, &version.entity);
        promote::promote(recorder, episode, origin, version, report);
    }
    let promoted = versions.iter().map(|version| &version.entity);
    promote::supersede_older_whole(recorder, episode, origin, promoted);
    for entity in omitted {
        promote::remove(recorder, episode, entity, Reason::OmittedByUpdate);
    }
}

fn counts(view: &dyn View, found: &FoundCode, resolution: &Resolution) -> bool {
    resolution.level == Level::Confirmed
        && found.completeness == Completeness::Full
        && !edits_what_is_stale(view, found, resolution)
}

/// An edit says nothing of what it leaves as it is: on code that disk contradicts, not even the user's counts.
fn edits_what_is_stale(view: &dyn View, found: &FoundCode, resolution: &Resolution) -> bool {
    let diverges = |candidate: &Candidate| view.divergence(&candidate.entity).is_some();
    found.edit.is_some() && resolution.candidates.iter().any(diverges)
}

/// A definition that is true already says nothing new, unless disk contradicts it: then the user has now decided.
fn says_something_new(
    view: &dyn View,
    session: SessionId,
    (found, candidate): (&FoundCode, &Candidate),
    place: &Place,
    counts: bool,
) -> bool {
    let entity = &candidate.entity;
    let same_as_truth = view
        .current(entity)
        .is_some_and(|current| current.slice == candidate.slice);
    match place {
        _ if same_as_truth => counts && view.divergence(entity).is_some(),
        Place::Disk(_) => true,
        Place::CurrentPrompt | Place::Again | Place::Context => {
            !quotes_the_model(view, session, found, candidate)
        }
    }
}

/// Whether an older message that the ledger didn't know may tell what is true of the entity, of which it says `slice`, or
/// nothing: there is no file, disk holds it so, or nothing is true yet. Nobody can tell when it was said.
fn is_open(
    view: &dyn View,
    found: &FoundCode,
    entity: &EntityId,
    slice: Option<SliceHash>,
) -> bool {
    let is_new = || view.current(entity).is_none();
    match view.disk(&entity.path) {
        None | Some(DiskFinding::Missing) => true,
        Some(DiskFinding::Unreadable(_)) => is_new(),
        Some(DiskFinding::File(file)) if file.whole == found.whole => true,
        Some(DiskFinding::File(_)) => {
            is_new() || (slice.is_some() && observe::slice_on_disk(view, entity) == slice)
        }
    }
}

/// What the model proposed doesn't become the user's by being quoted. It does where the user has made it their own: where
/// disk holds it; in the conversation of the proposal where disk contradicts what is true, so that pasting is a decision; in
/// another one, which may be a subtask's that its client reports on, where there is no file that could hold it.
fn quotes_the_model(
    view: &dyn View,
    session: SessionId,
    found: &FoundCode,
    candidate: &Candidate,
) -> bool {
    let entity = &candidate.entity;
    let mut proposals = view.proposals_for(entity);
    proposals.retain(|proposal| proposal.slice == candidate.slice);
    if entity.symbol.is_none() {
        // A block that was proposed for a part of the file says no more when it is taken for all of it.
        let mut parts = view.proposals_under(&entity.path);
        parts.retain(|proposal| proposal.artifact == found.artifact);
        proposals.append(&mut parts);
    }
    proposals.retain(|proposal| proposal.origin == Origin::Model);
    if proposals.is_empty() || observe::slice_on_disk(view, entity) == Some(candidate.slice) {
        return false;
    }
    if proposals.iter().any(|proposal| proposal.session == session) {
        view.divergence(entity).is_none()
    } else {
        matches!(view.disk(&entity.path), Some(DiskFinding::File(_)))
    }
}

/// Tracked symbols that the whole file no longer defines. A file with parse errors proves of none that it is gone.
fn omitted(view: &dyn View, found: &FoundCode, resolution: &Resolution) -> Vec<EntityId> {
    let (Extent::WholeFile, Some(path), true) =
        (resolution.extent, &resolution.path, found.is_clean())
    else {
        return Vec::new();
    };
    let kept: BTreeSet<&EntityId> = resolution
        .candidates
        .iter()
        .map(|candidate| &candidate.entity)
        .collect();
    view.symbols_of(path)
        .into_iter()
        .map(|symbol| EntityId::symbol(path.clone(), symbol))
        .filter(|entity| !kept.contains(entity))
        .collect()
}

/// Whether somebody counts on what this file holds: clients send examples and settings along that define nothing, which
/// is worth no word.
fn is_expected(view: &dyn View, found: &FoundCode, place: &Place) -> bool {
    let is_tracked = |path| !view.symbols_of(path).is_empty();
    matches!(place, Place::Disk(_)) || found.usable_path().is_some_and(is_tracked)
}

/// What the user should be told about code that didn't become true.
fn complaint(view: &dyn View, found: &FoundCode, resolution: &Resolution) -> Option<Reason> {
    if !found.claims_an_entity() {
        return None;
    }
    if edits_what_is_stale(view, found, resolution) {
        return Some(Reason::Stale);
    }
    match (resolution.level, found.completeness) {
        (Level::Confirmed, Completeness::Elided) => Some(Reason::Elided),
        (Level::Confirmed, Completeness::Truncated) => Some(Reason::Truncated),
        _ if found.path.is_none() => Some(Reason::PasteWithoutPath),
        _ => Some(resolution.reason),
    }
}
