//! The user as write-head: code that the user supplies is true at once (spec §6, §9.1, §9.2).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::judge::found_code::FoundCode;
use crate::judge::holders;
use crate::judge::promote::{self, MessagePieces, ResolvedBlock};
use crate::judge::propose::disk_verdict;
use crate::judge::resolve::{self, Candidate, Resolution};
use crate::observe;
use crate::prompt::hydrate;
use crate::prompt::repeat::{self, RepeatedBlock};
use crate::prompt::shown::{self, TakenFromDisk};
use tslp_core::artifact::{Level, Origin, Version};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Event, Extent, Format, NoticeIssued};
use tslp_core::gate::{self, Completeness, DiskVerdict, Thresholds};
use tslp_core::hash::SliceHash;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_projections::stale::Divergence;

/// The source of a block of the user's code, which decides how much it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeSource {
    /// The current prompt: an explicit act, also when it repeats something old.
    CurrentPrompt,
    /// A prompt that was sent before, word for word: [`RepeatedBlock`] says what of it still counts.
    RepeatedPrompt,
    /// An older message that the ledger didn't know, or one that was answered: context that the client sends along. It
    /// counts where nothing is true yet, where there is no file, and where disk holds it.
    Context,
    /// Another model's answer that the user passes on: it is judged as a model's, and never here.
    PassedOn,
    /// The model's or a tool's words in a user's message: true where disk holds it, and elsewhere a proposal.
    Another,
    /// A file on disk that the user accepted: all of it, or one symbol.
    Disk(Option<Symbol>),
}

/// Decides about one block of the user's. The state must already hold an observation of the block's file.
#[must_use]
pub fn write_head(
    view: &StateView<'_>,
    thresholds: Thresholds,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    containers: &MessagePieces,
    place: &CodeSource,
) -> Vec<Event> {
    // Context that is on record was decided about when it came; clients send it again with every prompt.
    if *place == CodeSource::Context
        && view.vault_holds(found.artifact)
        && !shows_changed_file(view, session, found)
    {
        return Vec::new();
    }
    let mut resolution = resolve::resolve(view, thresholds, found, (Origin::User, ""));
    let mut at_odds = Vec::new();
    if let CodeSource::Disk(Some(symbol)) = place {
        resolution.extent = Extent::Fragment;
        let is_taken = |it: &Candidate| it.entity.symbol.as_ref() == Some(symbol);
        at_odds = take_along(view, found, &mut resolution, &is_taken);
    }
    let changes = |candidate: &Candidate| {
        let truth = view.current_version(&candidate.entity);
        candidate.entity.symbol.is_some() && truth.is_none_or(|it| it.slice != candidate.slice)
    };
    if found.edit.is_some() && resolution.candidates.iter().any(changes) {
        // What else disk holds isn't the user's word for the file, which steps down for its parts.
        let all = resolution.candidates.clone();
        resolution.candidates.retain(|candidate| {
            let others = all.iter().map(Candidate::placed);
            candidate.entity.symbol.is_some()
                && !holders::has_stepped_down(view, candidate.placed(), others)
                || disk_verdict(view, &candidate.entity, candidate.slice) == DiskVerdict::Agrees
        });
    }
    decide_block(
        view,
        (episode, session),
        found,
        containers,
        place,
        (&resolution, at_odds),
    )
}

/// Reduces a resolution to what is taken of a file, with what of that is inside of it, and with what is around it and changes in nothing else.
/// Returns what is true around it and doesn't go along.
fn take_along(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &mut Resolution,
    is_taken: &dyn Fn(&Candidate) -> bool,
) -> Vec<EntityId> {
    let holds = |outer: &Candidate, inner: &Candidate| {
        let is_larger = outer.entity.symbol.is_some() && inner.entity.symbol.is_some();
        let mut spans = inner.spans.iter();
        is_larger && outer.entity != inner.entity && spans.all(|it| it.is_in(&outer.spans))
    };
    let differs = |it: &Candidate| {
        let truth = view.current_version(&it.entity);
        truth.is_none_or(|truth| truth.slice != it.slice)
    };
    let (mut taken, others): (Vec<Candidate>, Vec<Candidate>) =
        resolution.candidates.drain(..).partition(is_taken);
    let is_inside = |it: &Candidate| differs(it) && taken.iter().any(|outer| holds(outer, it));
    let (inside, others): (Vec<Candidate>, Vec<Candidate>) =
        others.into_iter().partition(is_inside);
    taken.extend(inside);
    let is_around = |it: &Candidate| taken.iter().any(|inner| holds(it, inner));
    let around = others.into_iter().filter(is_around);
    let goes_along = |around: &Candidate| {
        let parts = taken.iter().map(Candidate::placed);
        holders::changes_parts_alone(view, found.code.as_bytes(), around.placed(), parts)
    };
    let (along, left): (Vec<Candidate>, Vec<Candidate>) = around.partition(goes_along);
    taken.extend(along);
    resolution.candidates = taken;
    left.into_iter().map(|it| it.entity).collect()
}

/// Takes what a conversation was shown of a file on disk, with a notice if that has lost definitions.
#[must_use]
pub fn take_from_disk(
    view: &StateView<'_>,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    taken: &TakenFromDisk,
) -> Vec<Event> {
    let mut resolution = resolve::resolve(view, Thresholds::default(), found, (Origin::User, ""));
    if !becomes_true(view, found, &resolution) {
        return Vec::new();
    }
    let is_taken = |candidate: &Candidate| taken.entities.contains(&candidate.entity);
    let at_odds = take_along(view, found, &mut resolution, &is_taken);
    let is_whole = |candidate: &Candidate| candidate.entity.symbol.is_none();
    let omitted = if resolution.candidates.iter().any(is_whole) {
        // What is on disk and was true already isn't among those that are taken.
        let mut omitted = omitted_symbols(view, found, &resolution);
        omitted.retain(|entity| observe::slice_on_disk(view, entity).is_none());
        omitted
    } else {
        resolution.extent = Extent::Fragment;
        Vec::new()
    };
    if resolution.candidates.is_empty() {
        return Vec::new();
    }
    let mut recorder = Recorder::new(view);
    let containers = &MessagePieces::default();
    let block = resolved_block(episode, found, containers, &resolution);
    let candidates: Vec<&Candidate> = resolution.candidates.iter().collect();
    let versions = promote::record_block(&mut recorder, &block, &candidates);
    tell_lost(&mut recorder, (episode, session), &omitted);
    for entity in candidates.iter().map(|candidate| &candidate.entity) {
        if shown::was_not_saved(view, session, entity) && is_partly_saved(view, entity) {
            let ids = (episode, session);
            let notice = NoticeIssued::new(ids, Reason::ChangeNotSaved, entity.clone());
            recorder.push(Event::NoticeIssued(notice));
        }
    }
    make_true(&mut recorder, &block, &versions, (omitted, at_odds));
    recorder.into_events()
}

/// Whether the file holds another change of the reply that changed the entity. Where it holds none, the client's tools have said why.
fn is_partly_saved(view: &StateView<'_>, entity: &EntityId) -> bool {
    let episode = view.current_version(entity).map(|it| it.episode);
    let mut symbols = view.state.state_map().entities_in(&entity.path).into_iter();
    symbols.any(|other| {
        let current = view.current_version(&other);
        current.is_some_and(|current| {
            Some(current.episode) == episode
                && observe::slice_on_disk(view, &other) == Some(current.slice)
        })
    })
}

/// Tells the first of the definitions that a file no longer has, which goes by what a client showed of it.
fn tell_lost(
    recorder: &mut Recorder<'_>,
    (episode, session): (EpisodeId, SessionId),
    omitted: &[EntityId],
) {
    if let Some(lost) = omitted.first() {
        recorder.push(Event::NoticeIssued(NoticeIssued {
            episode,
            session,
            reason: Reason::TakenAsShown,
            entity: Some(EntityId::file(lost.path.clone())),
            other: Some(lost.clone()),
        }));
    }
}

/// Decides about one of many files that the user adopts as they are on disk. Where nothing changes nothing is recorded, and
/// no notice is issued. The state must already hold an observation of the file.
#[must_use]
pub fn adopt_file(view: &StateView<'_>, episode: EpisodeId, found: &FoundCode) -> Vec<Event> {
    let (place, session) = (CodeSource::Disk(None), SessionId::default());
    // Thresholds steer only the search for a missing path, and this path is known.
    let resolution = resolve::resolve(view, Thresholds::default(), found, (Origin::User, ""));
    if !becomes_true(view, found, &resolution) {
        return Vec::new();
    }
    let new = new_candidates(view, session, (found, &resolution), None, &place, true);
    let omitted = omitted_symbols(view, found, &resolution);
    if new.is_empty() && omitted.is_empty() {
        return Vec::new();
    }
    let mut recorder = Recorder::new(view);
    let containers = &MessagePieces::default();
    let block = resolved_block(episode, found, containers, &resolution);
    let versions = promote::record_block(&mut recorder, &block, &new);
    make_true(&mut recorder, &block, &versions, (omitted, Vec::new()));
    for entity in moved_here(view, found) {
        promote::remove_entity(&mut recorder, entity, Reason::MovedOrCopied);
    }
    promote::together(recorder.into_events())
}

/// All that is true of deleted files whose every definition is in this one: they were renamed to it.
fn moved_here(view: &StateView<'_>, found: &FoundCode) -> Vec<EntityId> {
    let gone = view.state.stale().iter();
    let gone = gone.filter(|(_, divergence)| *divergence == Divergence::Gone);
    let gone: BTreeSet<&RelPath> = gone.map(|(entity, _)| &entity.path).collect();
    let is_here = |path: &&&RelPath| {
        let symbols = view.state.state_map().entities_in(path);
        !symbols.is_empty()
            && symbols.iter().all(|entity| {
                let truth = view.current_version(entity).map(|current| current.slice);
                let here = entity.symbol.as_ref().and_then(|it| found.slices.get(it));
                truth.is_some() && here.copied() == truth
            })
    };
    let moved = gone.iter().filter(is_here);
    moved
        .flat_map(|path| hydrate::true_entities_of(view, path))
        .collect()
}

fn decide_block(
    view: &StateView<'_>,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    containers: &MessagePieces,
    place: &CodeSource,
    (resolution, at_odds): (&Resolution, Vec<EntityId>),
) -> Vec<Event> {
    if *place == CodeSource::Another && !disk_holds(view, found, resolution) {
        return record_anothers(view, (episode, session), found, containers, resolution);
    }
    let mut recorder = Recorder::new(view);
    let counts = becomes_true(view, found, resolution);
    let repeat = RepeatedBlock::new(view, found, containers);
    let repeat = (*place == CodeSource::RepeatedPrompt).then_some(&repeat);
    let new = new_candidates(view, session, (found, resolution), repeat, place, counts);
    let contradicted = match place {
        CodeSource::CurrentPrompt => contradicted(view, found, resolution, counts),
        _ => Vec::new(),
    };
    let block = resolved_block(episode, found, containers, resolution);
    let versions = promote::record_block(&mut recorder, &block, &new);
    if counts {
        let mut omitted = omitted_symbols(view, found, resolution);
        if let CodeSource::Disk(Some(_)) = place {
            omitted.extend(omitted_parts(view, found, resolution));
        }
        // A client that shows what disk holds doesn't say who made it so.
        let is_users = |it: &EntityId| is_typed(found, place) || !observe::is_of_others(view, it);
        omitted.retain(|entity| {
            is_users(entity)
                && (*place != CodeSource::Context
                    || context_counts_for(view, session, found, entity, None))
        });
        if let Some(repeat) = repeat {
            let told = entities_passed_over(repeat, resolution, &mut omitted);
            let told = repeat::repetition_notices((episode, session), told);
            told.into_iter().for_each(|event| recorder.push(event));
        }
        if *place == CodeSource::Context {
            tell_lost(&mut recorder, (episode, session), &omitted);
        }
        make_true(&mut recorder, &block, &versions, (omitted, at_odds));
    } else if let Some(reason) = refusal_reason(view, found, resolution)
        && (reason != Reason::NoDefinition || is_expected(view, found, place))
    {
        recorder.notify(
            (episode, session),
            reason,
            found.usable_path().cloned().map(EntityId::file),
        );
    }
    for entity in contradicted {
        recorder.notify((episode, session), Reason::Contradicted, entity);
    }
    recorder.into_events()
}

/// What is true of the entities that the user's block gives another version of, too little of which can be read.
fn contradicted(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &Resolution,
    counts: bool,
) -> Vec<EntityId> {
    // A remark in the place of code, and an edit, say nothing against the rest.
    if found.completeness == Completeness::Elided || found.edit.is_some() {
        return Vec::new();
    }
    let mut entities: Vec<EntityId> = Vec::new();
    if let Some(path) = found.usable_path() {
        let damaged = resolution.damaged.iter();
        entities.extend(damaged.map(|symbol| EntityId::symbol(path.clone(), symbol.clone())));
    }
    let is_unproved = !counts && resolution.level == Level::Inferred;
    let differs = |candidate: &&Candidate| {
        let truth = view.current_version(&candidate.entity);
        is_unproved && truth.is_some_and(|truth| truth.slice != candidate.slice)
    };
    let unproved = resolution.candidates.iter().filter(differs);
    entities.extend(unproved.map(|candidate| candidate.entity.clone()));
    entities.retain(|entity| {
        view.current_version(entity).is_some()
            && view.divergence(entity) != Some(Divergence::Contradicted)
    });
    entities
}

/// Whether disk holds the block: as the whole file, or each of its definitions.
fn disk_holds(view: &StateView<'_>, found: &FoundCode, resolution: &Resolution) -> bool {
    let candidates = &resolution.candidates;
    let is_whole = |path: &RelPath| match view.disk_finding(path) {
        Some(LastFinding::File(file)) => file.whole == found.whole,
        _ => false,
    };
    let on_disk = |candidate: &Candidate| {
        observe::slice_on_disk(view, &candidate.entity) == Some(candidate.slice)
    };
    found.usable_path().is_some_and(is_whole)
        || !candidates.is_empty() && candidates.iter().all(on_disk)
}

/// Records code in a user's message that the model or a tool wrote: what isn't true or proposed already is a proposal of the model's,
/// which nothing promotes.
fn record_anothers(
    view: &StateView<'_>,
    (episode, session): (EpisodeId, SessionId),
    found: &FoundCode,
    containers: &MessagePieces,
    resolution: &Resolution,
) -> Vec<Event> {
    let is_true = |candidate: &&Candidate| {
        let current = view.current_version(&candidate.entity);
        current.is_some_and(|current| current.slice == candidate.slice)
    };
    let proposals_of = |candidate: &Candidate| {
        let mut proposals = view.proposals_for(&candidate.entity);
        proposals.retain(|proposal| proposal.slice == candidate.slice);
        if candidate.entity.symbol.is_none() {
            // A block that was proposed as a part of the file is no other proposal when it is read as the whole file.
            let mut parts = view.proposals_under(&candidate.entity.path);
            parts.retain(|proposal| proposal.artifact == found.artifact);
            proposals.append(&mut parts);
        }
        proposals
    };
    let mut new: Vec<&Candidate> = resolution.candidates.iter().collect();
    new.retain(|candidate| !is_true(candidate));
    // In the proposal's own conversation its notice has said what there is to say.
    let is_told = |candidate: &&Candidate| {
        let proposals = proposals_of(candidate);
        proposals.iter().any(|proposal| proposal.session == session)
    };
    let Some(first) = new.iter().find(|candidate| !is_told(candidate)) else {
        return Vec::new();
    };
    let entity = first.entity.clone();
    let mut recorder = Recorder::new(view);
    let block = ResolvedBlock {
        origin: Origin::Model,
        ..resolved_block(episode, found, containers, resolution)
    };
    new.retain(|candidate| proposals_of(candidate).is_empty());
    if !new.is_empty() {
        promote::record_block(&mut recorder, &block, &new);
    }
    recorder.notify((episode, session), Reason::CodeOfAnother, entity);
    recorder.into_events()
}

const fn resolved_block<'f>(
    episode: EpisodeId,
    found: &'f FoundCode,
    containers: &'f MessagePieces,
    resolution: &'f Resolution,
) -> ResolvedBlock<'f> {
    ResolvedBlock {
        episode,
        origin: Origin::User,
        completeness: found.completeness,
        found,
        containers,
        resolution,
    }
}

/// The candidates that become versions: those that count at their source and say something new.
fn new_candidates<'r>(
    view: &StateView<'_>,
    session: SessionId,
    (found, resolution): (&FoundCode, &'r Resolution),
    repeat: Option<&RepeatedBlock<'_>>,
    place: &CodeSource,
    counts: bool,
) -> Vec<&'r Candidate> {
    // The order matters: `says_something_new` is asked last, because a candidate that equals the truth is still new where disk
    // contradicts it, and a repeated or older message must not pass as that decision of the user's.
    resolution
        .candidates
        .iter()
        .filter(|candidate| {
            let (entity, slice) = (&candidate.entity, Some(candidate.slice));
            repeat.is_none_or(|repeat| repeat.counts_for(entity, slice))
                && (*place != CodeSource::Context
                    || context_counts_for(view, session, found, entity, slice))
        })
        .filter(|candidate| says_something_new(view, session, (found, candidate), place, counts))
        .collect()
}

/// The entities that the repeated block would change and that don't count. Those that the file keeps are removed from `omitted`.
fn entities_passed_over(
    repeat: &RepeatedBlock<'_>,
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

/// Promotes the new versions, and removes the symbols that the file no longer defines.
fn make_true(
    recorder: &mut Recorder<'_>,
    block: &ResolvedBlock<'_>,
    versions: &[Version],
    (omitted, at_odds): (Vec<EntityId>, Vec<EntityId>),
) {
    let origin = block.origin;
    let view = recorder.view;
    for version in versions {
        let mut report = gate::write_head(block.resolution.level, block.completeness);
        let is_known = view.current_version(&version.entity).is_some();
        if block.found.edit.is_some()
            && is_known
            && disk_verdict(view, &version.entity, version.slice) != DiskVerdict::Agrees
        {
            report.set_parts_alone(true);
        }
        let version = (version.id, &version.entity);
        promote::promote(recorder, origin, version, report);
    }
    let promoted = versions.iter().map(|version| &version.entity);
    holders::supersede_holders(recorder, origin, promoted.chain(&omitted));
    holders::supersede(recorder, origin, at_odds);
    for entity in omitted {
        promote::remove_entity(recorder, entity, Reason::OmittedByUpdate);
    }
}

fn becomes_true(view: &StateView<'_>, found: &FoundCode, resolution: &Resolution) -> bool {
    resolution.level == Level::Confirmed
        && found.completeness == Completeness::Full
        && !edits_what_is_stale(view, found, resolution)
}

/// An edit of STALE code is refused, even the user's: the lines that it leaves unchanged are unknown. What is STALE around the code that it
/// changes is no matter.
fn edits_what_is_stale(view: &StateView<'_>, found: &FoundCode, resolution: &Resolution) -> bool {
    let diverges = |candidate: &Candidate| {
        let truth = view.current_version(&candidate.entity);
        candidate.entity.symbol.is_some()
            && truth.is_some_and(|truth| truth.slice != candidate.slice)
            && disk_verdict(view, &candidate.entity, candidate.slice) != DiskVerdict::Agrees
            && !holders::changes_parts_alone(
                view,
                found.code.as_bytes(),
                candidate.placed(),
                resolution.candidates.iter().map(Candidate::placed),
            )
    };
    found.edit.is_some() && resolution.candidates.iter().any(diverges)
}

/// Whether the code is what a file holds now, though something else is true.
fn shows_changed_file(view: &StateView<'_>, session: SessionId, found: &FoundCode) -> bool {
    found.usable_path().is_some_and(|path| {
        let is_held = matches!(view.disk_finding(path), Some(LastFinding::File(file)) if file.whole == found.whole);
        let is_undone = |entity: &EntityId| {
            view.state.stale().is_unsaved(entity) && !shown::is_to_be_saved(view, session, entity)
        };
        let mut entities = hydrate::true_entities_of(view, path).into_iter();
        is_held && entities.any(|it| view.divergence(&it).is_some() || is_undone(&it))
    })
}

/// Whether the user decides themselves: by `accept`, or by pasting code in a fence. A client attaches files in other ways.
fn is_typed(found: &FoundCode, place: &CodeSource) -> bool {
    match place {
        CodeSource::Disk(_) => true,
        CodeSource::CurrentPrompt | CodeSource::RepeatedPrompt => found.format == Format::Fence,
        CodeSource::Context | CodeSource::PassedOn | CodeSource::Another => false,
    }
}

/// A definition that is true already says nothing new, unless disk contradicts it: then the user has now decided.
fn says_something_new(
    view: &StateView<'_>,
    session: SessionId,
    (found, candidate): (&FoundCode, &Candidate),
    place: &CodeSource,
    counts: bool,
) -> bool {
    let entity = &candidate.entity;
    let same_as_truth = view
        .current_version(entity)
        .is_some_and(|current| current.slice == candidate.slice);
    match place {
        // An edit says nothing of what it leaves alone.
        _ if same_as_truth => counts && found.edit.is_none() && view.divergence(entity).is_some(),
        CodeSource::Disk(_) => true,
        _ if !is_typed(found, place)
            && observe::is_of_others(view, entity)
            && observe::slice_on_disk(view, entity) == Some(candidate.slice) =>
        {
            false
        }
        CodeSource::CurrentPrompt
        | CodeSource::RepeatedPrompt
        | CodeSource::Context
        | CodeSource::PassedOn
        | CodeSource::Another => !quotes_the_model(view, session, found, candidate),
    }
}

/// Whether an older message that the ledger didn't know may change the truth about an entity: there is no file, disk holds
/// the same, or nothing is true yet. Nobody can tell when it was written, so a newer truth must not yield to it. `slice` is
/// the message's version; `None` if its file leaves the entity out.
fn context_counts_for(
    view: &StateView<'_>,
    session: SessionId,
    found: &FoundCode,
    entity: &EntityId,
    slice: Option<SliceHash>,
) -> bool {
    // What was refused doesn't become true because a client sends its files along, nor a file that lost something by it.
    let is_refused = |entity: &EntityId| view.divergence(entity) == Some(Divergence::Refused);
    let parts = || view.state.state_map().entities_in(&entity.path);
    let is_refused =
        is_refused(entity) || entity.symbol.is_none() && parts().iter().any(is_refused);
    // Nor is an accepted change undone that is yet to be saved.
    if is_refused || shown::is_to_be_saved(view, session, entity) {
        return false;
    }
    let is_new = || view.current_version(entity).is_none();
    match view.disk_finding(&entity.path) {
        None | Some(LastFinding::Missing) => true,
        // What can't be compared may be older than what is true, so it only fills a gap.
        Some(LastFinding::Unreadable(_)) => is_new(),
        Some(LastFinding::File(file)) if file.whole == found.whole => true,
        Some(LastFinding::File(_)) => {
            is_new() || (slice.is_some() && observe::slice_on_disk(view, entity) == slice)
        }
    }
}

/// Whether a candidate only quotes a proposal of the model's, which doesn't make it the user's. It does become the user's if
/// disk holds it; in the proposal's conversation if disk contradicts the truth, because pasting is a decision then; and in
/// another conversation, which may be a client's report on a subtask, if there is no file that could hold it.
fn quotes_the_model(
    view: &StateView<'_>,
    session: SessionId,
    found: &FoundCode,
    candidate: &Candidate,
) -> bool {
    let entity = &candidate.entity;
    let mut proposals = view.proposals_for(entity);
    proposals.retain(|proposal| proposal.slice == candidate.slice);
    if entity.symbol.is_none() {
        // A block that was proposed as a part of the file is still the model's when it is read as the whole file.
        let mut parts = view.proposals_under(&entity.path);
        parts.retain(|proposal| proposal.artifact == found.artifact);
        proposals.append(&mut parts);
    }
    proposals.retain(|proposal| proposal.origin != Origin::User);
    // Code that the user saved is theirs, whoever wrote it first.
    if proposals.is_empty() || observe::slice_on_disk(view, entity) == Some(candidate.slice) {
        return false;
    }
    if proposals.iter().any(|proposal| proposal.session == session) {
        view.divergence(entity).is_none()
    } else {
        matches!(view.disk_finding(&entity.path), Some(LastFinding::File(_)))
    }
}

/// Tracked symbols that the whole file no longer defines. A file with parse errors proves nothing to be gone.
fn omitted_symbols(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &Resolution,
) -> Vec<EntityId> {
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
    let mut entities = view.state.state_map().entities_in(path);
    entities.retain(|entity| !kept.contains(entity));
    entities
}

/// What was true inside of a definition that is taken, and that the file doesn't define any more.
fn omitted_parts(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &Resolution,
) -> Vec<EntityId> {
    let (Some(path), true) = (&resolution.path, found.is_clean()) else {
        return Vec::new();
    };
    let defined = found.symbols();
    let mut parts = view.state.state_map().entities_in(path);
    parts.retain(|part| {
        let is_gone = part.symbol.as_ref().is_some_and(|it| !defined.contains(it));
        let mut holders = resolution.candidates.iter().map(|it| &it.entity);
        is_gone && holders.any(|holder| holders::is_inside(view, part, holder))
    });
    parts
}

/// Whether the user expects this file to be tracked. Clients also send examples and settings that define nothing; they get
/// no notice.
fn is_expected(view: &StateView<'_>, found: &FoundCode, place: &CodeSource) -> bool {
    let is_tracked = |path| !view.state.state_map().symbols_of(path).is_empty();
    matches!(place, CodeSource::Disk(_)) || found.usable_path().is_some_and(is_tracked)
}

/// The notice for code that didn't become true, if the user should get one.
fn refusal_reason(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &Resolution,
) -> Option<Reason> {
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
