//! The model's code: captured, resolved, judged by the gates, promoted as a whole or not at all (spec §4–§7, §15.5).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;
use tslp_projections::store::Unreadable;

use crate::Recorder;
use crate::judge::code_spec;
use crate::judge::found_code::FoundCode;
use crate::judge::found_edit::{self, EditBase};
use crate::judge::holders;
use crate::judge::namesakes;
use crate::judge::promote::{self, MessagePieces, ResolvedBlock};
use crate::judge::rename::{self, RenameSuspicion};
use crate::judge::resolve::{self, Candidate, Resolution};
use crate::observe;
use crate::prompt::hydrate;
use crate::prompt::naming;
use tslp_core::artifact::{Level, Origin, Transition, Version};
use tslp_core::edit::Edit;
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::event::{Event, Extent, Format, NoticeIssued, PathEvidence, PromotionRefused};
use tslp_core::extract::{Body, Definition, Extraction, Grammars};
use tslp_core::gate::{
    self, BaseVerdict, Completeness, DiskVerdict, GateFacts, GateReport, NameVerdict,
    RemovalVerdict, Thresholds, Verdict,
};
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::limits::CORRELATION_NAMESAKES_MAX;
use tslp_core::measure::{self, Measure, MeasuredCode, PartCounts};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_core::slice::{self, Figures, Span};
use tslp_projections::file_code::TrueEntity;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;

/// Bytes of known files that are searched for a name; what is in more of them isn't known.
const SEARCHED_BYTES_MAX: usize = 16 << 20;

/// The context in which the blocks of one reply are judged.
#[derive(Clone, Copy)]
pub struct JudgingContext<'j> {
    /// The state; it must already hold observations of the blocks' files, made in this episode.
    pub view: &'j StateView<'j>,
    /// The gates' thresholds and profile.
    pub policy: &'j Policy,
    /// The reply's episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// The user's prompt without the code in it.
    pub asked: &'j str,
    /// What the reply adds anywhere.
    pub gained: &'j GainedCode,
    /// The parsers.
    pub grammars: &'j dyn Grammars,
    /// Whether the agent has written the code to disk.
    pub written: WriteState,
    /// Of the given entities, those whose true code the model has seen: in the prompt of this reply, or because it wrote them
    /// in this conversation.
    pub seen: &'j dyn Fn(&[EntityId]) -> BTreeSet<EntityId>,
}

/// Whether the agent has already written the judged code to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// The code comes from a reply.
    NotYet,
    /// The code was read from disk, where a call has put it, so disk can't contradict it.
    OnDisk(Origin),
}

impl WriteState {
    const fn is_on_disk(self) -> bool {
        matches!(self, Self::OnDisk(_))
    }

    const fn origin(self) -> Origin {
        match self {
            Self::NotYet => Origin::Model,
            Self::OnDisk(origin) => origin,
        }
    }
}

/// Whether exactly this text of a file was refused before, and would be again. A text that was refused only as STALE may
/// pass now: its client had written it before its reply was judged.
#[must_use]
pub fn would_be_refused_again(view: &StateView<'_>, found: &FoundCode) -> bool {
    let proposals = found.usable_path().map(|path| view.proposals_under(path));
    let mut proposals = proposals.into_iter().flatten();
    proposals.any(|proposal| {
        let may_pass = match proposal.refused_for() {
            Some(Reason::Stale) => true,
            // What it lacks may have been put elsewhere since.
            Some(Reason::SymbolsLost) => {
                let path = &proposal.entity.path;
                let known = view.state.state_map().symbols_of(path).into_iter();
                let gone = known.filter(|symbol| !found.symbols().contains(symbol));
                let mut gone = gone
                    .map(|symbol| EntityId::symbol(path.clone(), symbol))
                    .peekable();
                gone.peek().is_some()
                    && gone.all(|entity| lives_on_elsewhere(view, &entity).is_some())
            }
            _ => false,
        };
        proposal.artifact == found.artifact && !may_pass
    })
}

/// The file into which the model has put a definition as it is since it became true.
fn lives_on_elsewhere(view: &StateView<'_>, entity: &EntityId) -> Option<RelPath> {
    let (Some(symbol), Some(current)) = (&entity.symbol, view.current_version(entity)) else {
        return None;
    };
    let map = view.state.state_map();
    let namesakes = map
        .entities_named(symbol.last_component(), CORRELATION_NAMESAKES_MAX)
        .into_iter();
    let mut namesakes = namesakes.filter(|other| other.path != entity.path);
    let moved = namesakes.find(|other| {
        view.current_version(other).is_some_and(|other| {
            other.origin != Origin::User
                && other.slice == current.slice
                && other.version > current.version
        })
    });
    moved.map(|other| other.path)
}

/// Whether a file that the user's client shows holds nothing but what the model listed, and lacks definitions: the client has
/// written the listing as the whole file, and nobody decided that they go.
#[must_use]
pub fn is_listing_of_model(view: &StateView<'_>, found: &FoundCode) -> bool {
    let Some(path) = found.usable_path().filter(|_| found.edit.is_none()) else {
        return false;
    };
    let is_on_disk = matches!(view.disk_finding(path), Some(LastFinding::File(file)) if file.whole == found.whole);
    let symbols = view.state.state_map().symbols_of(path);
    let is_lost = |symbol: &Symbol| !found.slices.contains_key(symbol);
    if !is_on_disk || !found.is_clean() || !symbols.iter().any(is_lost) {
        return false;
    }
    let mut proposed = view.proposals_under(path).into_iter();
    if proposed.any(|it| it.origin == Origin::Model && it.artifact == found.artifact) {
        return true;
    }
    // A reply that only quotes what is true proposes nothing, and is a listing all the same.
    let is_written = view.vault_holds(found.artifact) && !view.vault_holds_message(found.artifact);
    let entities = symbols.into_iter().map(Some).chain([None]);
    let mut entities = entities.map(|symbol| EntityId {
        path: path.clone(),
        symbol,
    });
    is_written && !entities.any(|entity| was_users(view, &entity, found.artifact))
}

/// Whether some version of the entity is the user's, in this very text.
fn was_users(view: &StateView<'_>, entity: &EntityId, artifact: ArtifactHash) -> bool {
    let current = view.current_version(entity).into_iter();
    let current = current.map(|it| (it.origin, it.artifact));
    let former = view.former_versions(entity).into_iter();
    let mut known = current.chain(former.map(|it| (it.origin, it.artifact)));
    known.any(|known| known == (Origin::User, artifact))
}

/// Decides about one block of a reply. Where that makes a part true, so that nobody would know the file as a whole any more, the block is
/// taken as an edit of the file instead, if `in_file` can make it one and that passes as well.
#[must_use]
pub fn propose_in_file(
    judging: JudgingContext<'_>,
    found: &FoundCode,
    containers: &MessagePieces,
    in_file: impl FnOnce() -> Option<FoundCode>,
) -> Vec<Event> {
    let events = propose(judging, found, containers);
    let outdates_file = |event: &Event| matches!(event, Event::Transitioned(it) if it.cause == Reason::PartReplaced);
    if !events.iter().any(outdates_file) {
        return events;
    }
    let edited = in_file().map(|edit| propose(judging, &edit, containers));
    let renews_file = |event: &Event| matches!(event, Event::Transitioned(it) if it.entity.symbol.is_none() && it.transition == Transition::Promote);
    let edited = edited.filter(|events| events.iter().any(renews_file));
    edited.unwrap_or(events)
}

/// Decides about one block of the model's.
#[must_use]
pub fn propose(
    judging: JudgingContext<'_>,
    found: &FoundCode,
    containers: &MessagePieces,
) -> Vec<Event> {
    let JudgingContext {
        view,
        policy,
        episode,
        session,
        ..
    } = judging;
    let (mut recorder, origin) = (Recorder::new(view), judging.written.origin());
    // Names alone link nothing, unless the user asks for just these: the block is of the file that the conversation shows.
    let symbols = found.symbols();
    let is_named = |symbol: &Symbol| naming::holds_word(judging.asked, symbol.last_component());
    let mut thresholds = policy.thresholds;
    if !symbols.is_empty() && symbols.iter().all(is_named) {
        thresholds.correlation_percent = 0;
    }
    let mut resolution = resolve::resolve(view, thresholds, found, (Origin::Model, judging.asked));
    if judging.written.is_on_disk() && resolution.level != Level::Confirmed {
        return Vec::new();
    }
    let unseen = unseen_entities(judging, found, &changed_candidates(view, &resolution));
    if found.evidence == PathEvidence::Shown && !unseen.is_empty() {
        resolution = resolution.of_unseen_code();
    }
    let mut changed = changed_candidates(view, &resolution);
    if found.edit.is_some() && changed.iter().any(|it| it.entity.symbol.is_some()) {
        // An edit quotes what it replaces and no more. What else the file holds on disk that isn't true yet concerns the file as a
        // whole, which steps down for its parts.
        let has_stepped_down = |candidate: &Candidate| {
            let others = resolution.candidates.iter().map(Candidate::placed);
            holders::has_stepped_down(view, candidate.placed(), others)
        };
        changed.retain(|candidate| {
            candidate.entity.symbol.is_some() && !has_stepped_down(candidate)
                || disk_verdict_in(view, (found, &resolution), candidate) == DiskVerdict::Agrees
        });
    }
    if judging.written.is_on_disk() {
        // What the client didn't apply isn't changed back: the file doesn't hold the change yet.
        let is_unsaved = |it: &&Candidate| {
            let made_by = view.disk_author(&it.entity.path).reply;
            let current = view.current_version(&it.entity);
            view.state.stale().is_unsaved(&it.entity)
                && current.is_some_and(|current| current.episode >= made_by)
        };
        let all = changed.len();
        changed.retain(|it| !is_unsaved(it));
        let is_mixed = changed.len() < all;
        changed.retain(|it| it.entity.symbol.is_some() || !is_mixed);
    }
    let judge = BlockJudge::new(judging, found, &resolution, unseen);
    if judging.written.is_on_disk() && changed.is_empty() && judge.leaving.is_empty() {
        return Vec::new();
    }
    if !judge.leaving.is_empty() && found.edit.as_ref().is_some_and(|it| it.outcome.is_err()) {
        // The file goes: there is no code to judge.
        changed.clear();
    }
    let block = ResolvedBlock {
        episode,
        origin,
        completeness: completeness_against_truth(view, found, &resolution),
        found,
        containers,
        resolution: &resolution,
    };
    // Recorded before it is judged: a refused block stays a proposal that the user may still confirm.
    let versions = promote::record_block(&mut recorder, &block, &changed);
    // All reports before any promotion: a block is applied as a whole, so one failure keeps all of it out.
    let reports = judge.gate_reports(&block, &changed);
    let refused = judge.refused(&changed, &reports);
    let conclusion = reports.iter().find(|it| !it.passed);
    let conclusion = conclusion.and_then(|it| it.conclusion);
    let (mut promoted, mut left): (Vec<&EntityId>, Vec<&EntityId>) = Default::default();
    for ((version, report), is_refused) in versions.iter().zip(reports).zip(&refused) {
        if *is_refused {
            left.extend(judge.predecessors.get(&version.entity));
            judge.record_refusal(&mut recorder, version, report, conclusion);
        } else {
            promoted.push(&version.entity);
            promote::promote(&mut recorder, origin, (version.id, &version.entity), report);
        }
    }
    if refused.is_empty() || !promoted.is_empty() {
        // What lives on under another name leaves with that.
        let leaving = judge.leaving.iter().filter(|(it, _)| !left.contains(&it));
        let changed = promoted
            .into_iter()
            .chain(leaving.clone().map(|(it, _)| it));
        holders::supersede_holders(&mut recorder, origin, changed);
        for (entity, why) in leaving {
            promote::discard_proposals(&mut recorder, origin, entity, Reason::Replaced, None);
            promote::remove_entity(&mut recorder, entity.clone(), *why);
        }
    }
    let complaint = block_complaint(found, &resolution, recorder.first_refusal())
        .filter(|complaint| !suppresses_notice(view, found, complaint, &versions))
        .filter(|_| judge.leaving.is_empty() || recorder.first_refusal().is_some());
    if let Some(complaint) = complaint {
        recorder.push(Event::NoticeIssued(NoticeIssued {
            episode,
            session,
            reason: complaint.reason,
            entity: complaint.entity,
            other: complaint.other,
        }));
    }
    recorder.into_events()
}

/// A definition that a reply brings.
#[derive(Debug)]
struct NewDefinition {
    symbol: Symbol,
    head: String,
    lines: BTreeSet<String>,
    figures: Figures,
    parts: PartCounts,
}

/// What a reply adds, wherever it does.
#[derive(Debug, Default)]
pub struct GainedCode {
    /// Its blocks that may be code of a file, without those that its calls write.
    pub blocks: u32,
    /// Definitions that a block takes out of its file, and that a block of another file has as they are.
    moved: BTreeSet<EntityId>,
    /// New definitions that are inside of no other new one.
    new: Vec<NewDefinition>,
}

impl GainedCode {
    /// What the blocks of a reply add.
    #[must_use]
    pub fn of(view: &StateView<'_>, thresholds: Thresholds, found: &[FoundCode]) -> Self {
        let is_block = |it: &&FoundCode| it.format != Format::ToolCall && it.claims_an_entity();
        Self {
            blocks: saturating_u32(found.iter().filter(is_block).count()),
            moved: moved_within(view, thresholds, found),
            new: found
                .iter()
                .flat_map(|it| new_definitions(view, it))
                .collect(),
        }
    }

    /// The blocks in the order in which they are judged: one that takes something out of its file comes after the one that brings it.
    #[must_use]
    pub fn in_order<'f>(&self, found: &'f [FoundCode]) -> Vec<&'f FoundCode> {
        let is_left = |path: &RelPath| self.moved.iter().any(|entity| entity.path == *path);
        let mut ordered: Vec<&FoundCode> = found.iter().collect();
        ordered.sort_by_key(|it| it.usable_path().is_some_and(is_left));
        ordered
    }

    /// The structure and the parts of new definitions into which code went: half of their lines are the old code's, or the new code
    /// names them.
    fn moved_from(&self, old: &str, code: &str) -> (Figures, PartCounts) {
        let lines: BTreeSet<String> = measure::line_keys(old).collect();
        let is_moved = |new: &&NewDefinition| {
            // A definition inside of the new code counts with it already.
            let is_named = || {
                naming::holds_word(code, new.symbol.last_component()) && !code.contains(&new.head)
            };
            let kept = new.lines.intersection(&lines).count();
            2 * kept > new.lines.len() || is_named()
        };
        let moved: Vec<&NewDefinition> = self.new.iter().filter(is_moved).collect();
        (
            resolve::total_figures(moved.iter().map(|new| new.figures)),
            moved.iter().map(|new| new.parts).sum(),
        )
    }
}

/// The outermost definitions of a block that aren't true yet.
fn new_definitions(view: &StateView<'_>, found: &FoundCode) -> Vec<NewDefinition> {
    let Ok(extraction) = &found.extraction else {
        return Vec::new();
    };
    let is_new = |symbol: &Symbol| {
        let path = found.usable_path();
        path.is_none_or(|path| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            view.current_version(&entity).is_none()
        })
    };
    let bare = measure::blanked(&found.code, extraction.remarks.iter());
    let text_at = |span: Span| String::from_utf8_lossy(span.of(bare.as_bytes())).into_owned();
    let new = extraction.definitions.iter();
    let new: Vec<&Definition> = new.filter(|it| is_new(&it.symbol)).collect();
    let mut reached = 0;
    let outer = new.into_iter().filter(|it| {
        let is_outer = it.span.start >= reached;
        reached = reached.max(it.span.end);
        is_outer
    });
    let new = outer.map(|it| NewDefinition {
        symbol: it.symbol.clone(),
        head: text_at(it.head).lines().next().unwrap_or_default().into(),
        lines: measure::line_keys(&text_at(it.span)).collect(),
        figures: it.figures,
        parts: it.parts,
    });
    new.collect()
}

/// Definitions that one block leaves out of its whole file, and that one under another path has as they are.
fn moved_within(
    view: &StateView<'_>,
    thresholds: Thresholds,
    found: &[FoundCode],
) -> BTreeSet<EntityId> {
    let mut paths = found.iter().filter_map(FoundCode::usable_path);
    let first = paths.next();
    // Most replies are about one file.
    if paths.all(|path| Some(path) == first) {
        return BTreeSet::new();
    }
    let read = found.iter().filter_map(|block| {
        let extraction = block.extraction.as_ref().ok()?;
        let slices = extraction.slices(block.code.as_bytes());
        Some((block, block.usable_path()?, slices))
    });
    let read: Vec<_> = read.collect();
    let mut moved = BTreeSet::new();
    for (block, path, slices) in &read {
        let others = read.iter().filter(|(_, other, _)| other != path);
        let brought: BTreeSet<(&str, SliceHash)> = others
            .flat_map(|(.., slices)| slices.iter())
            .map(|(symbol, slice)| (symbol.last_component(), *slice))
            .collect();
        if brought.is_empty() {
            continue;
        }
        let symbols = view.state.state_map().symbols_of(path).into_iter();
        let gone = symbols.filter(|symbol| !slices.contains_key(symbol));
        let gone = gone.filter_map(|symbol| {
            let entity = EntityId::symbol((*path).clone(), symbol);
            let name = entity.symbol.as_ref()?.last_component();
            let slice = view.current_version(&entity)?.slice;
            brought.contains(&(name, slice)).then_some(entity)
        });
        let gone: Vec<EntityId> = gone.collect();
        let extent = || resolve::resolve(view, thresholds, block, (Origin::Model, "")).extent;
        if !gone.is_empty() && extent() == Extent::WholeFile {
            moved.extend(gone);
        }
    }
    moved
}

/// Outermost definitions nested inside those at `spans`.
fn definitions_within(extraction: &Extraction, spans: &[Span]) -> Vec<Span> {
    let mut nested: Vec<Span> = Vec::new();
    let mut outer: Option<Span> = None;
    // Outer definitions come before inner ones.
    for span in extraction
        .definitions
        .iter()
        .map(|definition| definition.span)
    {
        if !span.is_in(spans) {
            continue;
        }
        match (outer, nested.last()) {
            (Some(around), last) if span.is_in(&[around]) => {
                if !last.is_some_and(|last| span.is_in(&[*last])) {
                    nested.push(span);
                }
            }
            _ => outer = Some(span),
        }
    }
    nested
}

/// The definitions at some spans of a text, as they are measured.
struct Measurable {
    text: String,
    remarks: Vec<Span>,
    nested: Vec<Span>,
    parts: PartCounts,
}

impl Measurable {
    /// Without a grammar nothing of the text is known but its words.
    fn of(text: &str, extraction: Option<&Extraction>, spans: &[Span]) -> Self {
        let joined = slice::joined(text.as_bytes(), spans);
        let (mut remarks, mut nested, mut parts) = (Vec::new(), Vec::new(), PartCounts::default());
        if let Some(extraction) = extraction {
            remarks = slice::within_joined(&extraction.remarks, spans);
            let inner = definitions_within(extraction, spans);
            let parts_at = |spans: &[Span]| -> PartCounts {
                let own = extraction.definitions.iter();
                let own = own.filter(|it| spans.contains(&it.span));
                own.map(|it| it.parts).sum()
            };
            parts = parts_at(spans) - parts_at(&inner);
            nested = slice::within_joined(&inner, spans);
        }
        Self {
            text: String::from_utf8_lossy(&joined).into_owned(),
            remarks,
            nested,
            parts,
        }
    }

    fn code(&self) -> MeasuredCode<'_> {
        MeasuredCode {
            text: &self.text,
            remarks: &self.remarks,
            nested: &self.nested,
            parts: self.parts,
        }
    }
}

/// Whether the block is complete. A text that breaks off is truncated, even in a closed fence; a placeholder that the true
/// code also has elides nothing.
fn completeness_against_truth(
    view: &StateView<'_>,
    found: &FoundCode,
    resolution: &Resolution,
) -> Completeness {
    let Ok(extraction) = &found.extraction else {
        return found.completeness;
    };
    match found.completeness {
        Completeness::Full if extraction.breaks_off => match &found.broken_base {
            Some(base) if base.breaks_off => Completeness::Full,
            _ => Completeness::Truncated,
        },
        Completeness::Elided if found.edit.is_none() => {
            let mut before = String::new();
            for candidate in &resolution.candidates {
                let current = view.current_version(&candidate.entity);
                let base = current
                    .and_then(|current| view.artifact_slices(current.artifact, &current.spans));
                // A base that can't be read excuses no placeholder: then the block counts as elided, which refuses it.
                before.push_str(&String::from_utf8_lossy(&base.unwrap_or_default()));
            }
            if found_edit::elides_anew(&found.code, &extraction.elisions, &before) {
                Completeness::Elided
            } else {
                Completeness::Full
            }
        }
        known => known,
    }
}

/// What the block says anew.
fn changed_candidates<'r>(view: &StateView<'_>, resolution: &'r Resolution) -> Vec<&'r Candidate> {
    let candidates = resolution.candidates.iter();
    candidates
        .filter(|candidate| !is_true_already(view, candidate))
        .collect()
}

fn is_true_already(view: &StateView<'_>, candidate: &Candidate) -> bool {
    view.current_version(&candidate.entity)
        .is_some_and(|current| current.slice == candidate.slice)
}

/// The notice that a block causes.
struct BlockComplaint {
    reason: Reason,
    entity: Option<EntityId>,
    other: Option<EntityId>,
}

impl Recorder<'_> {
    /// The refusal to report: the first one that failed by itself, because the others were only kept out with it. What a whole
    /// file lacks or breaks is the file's.
    fn first_refusal(&self) -> Option<&PromotionRefused> {
        let refusals = self.events().iter().filter_map(|event| match event {
            Event::PromotionRefused(refused) => Some(refused),
            _ => None,
        });
        let mut by_itself = refusals.clone().filter(|it| it.report.failed_by_itself());
        let first = by_itself.next().or_else(|| refusals.clone().next())?;
        let is_files = |refused: &&PromotionRefused| {
            let reason = refused.report.conclusion;
            matches!(reason, Some(Reason::SymbolsLost | Reason::SpecBroken))
        };
        let mut files = refusals.filter(|it| it.entity.symbol.is_none());
        let file = files.find(is_files).filter(|_| is_files(&first));
        Some(file.unwrap_or(first))
    }
}

/// Whether a tool call's code gets no notice. The client's own tool reports that an edit doesn't apply; nobody could act on
/// a language that isn't supported here; and a refusal is reported once, however often the file is edited elsewhere.
fn suppresses_notice(
    view: &StateView<'_>,
    found: &FoundCode,
    complaint: &BlockComplaint,
    versions: &[Version],
) -> bool {
    // In a chat nobody but the proxy tells the model that its code was not taken.
    if !found.format.is_agents() {
        return false;
    }
    let was_said = |version: &Version| {
        let mut before = view.proposals_for(&version.entity).into_iter();
        before.any(|proposal| {
            proposal.slice == version.slice && proposal.refused_for() == Some(complaint.reason)
        })
    };
    // What a file on disk lacks still is told already.
    let stands = |entity: &EntityId| {
        found.format == Format::Disk
            && view.divergence(entity) == Some(Divergence::Refused)
            && (view.proposals_for(entity).iter())
                .any(|it| it.refused_for() == Some(complaint.reason))
    };
    match complaint.reason {
        _ if complaint.entity.as_ref().is_some_and(stands) => true,
        Reason::BaseUnknown
        | Reason::EditMalformed
        | Reason::EditNeedsWholeFile
        | Reason::EditTextNotFound
        | Reason::EditTextNotUnique
        | Reason::FileMove
        | Reason::Unlinked => true,
        _ => versions
            .iter()
            .filter(|version| Some(&version.entity) == complaint.entity.as_ref())
            .any(was_said),
    }
}

/// The notice for this block, if the model or the user should get one.
fn block_complaint(
    found: &FoundCode,
    resolution: &Resolution,
    refused: Option<&PromotionRefused>,
) -> Option<BlockComplaint> {
    let of_file = |reason| BlockComplaint {
        reason,
        entity: resolution.path.clone().map(EntityId::file),
        other: None,
    };
    // Why an edit doesn't apply says more than that it isn't linked, so it comes before the level.
    if found.edit.is_some() && resolution.level == Level::Inferred {
        return Some(of_file(resolution.reason));
    }
    let is_unparsed = resolution.reason == Reason::ParseErrors && found.format == Format::ToolCall;
    if is_unparsed || resolution.reason == Reason::CredentialRedacted {
        return Some(BlockComplaint {
            reason: resolution.reason,
            entity: found.usable_path().cloned().map(EntityId::file),
            other: None,
        });
    }
    if resolution.reason == Reason::NoGrammar && found.format == Format::ToolCall {
        return None;
    }
    if resolution.level != Level::Confirmed {
        return found.claims_an_entity().then_some(BlockComplaint {
            reason: Reason::Unlinked,
            entity: None,
            other: None,
        });
    }
    let refused = refused?;
    let reason = refused.report.conclusion?;
    Some(BlockComplaint {
        reason,
        entity: Some(refused.entity.clone()),
        other: refused
            .rename_of
            .clone()
            .filter(|_| reason != Reason::Stale),
    })
}

/// Whether a definition is a test, by its name or its file's.
fn is_test(entity: &EntityId) -> bool {
    let names = entity
        .symbol_str()
        .into_iter()
        .chain([entity.path.as_str()]);
    names
        .flat_map(|name| name.split(|c: char| !c.is_alphanumeric()))
        .any(|word| {
            let word = word.to_lowercase();
            word.starts_with("test") || word.ends_with("test") || word == "spec"
        })
}

/// A text that made entities true, and how it is read; without a grammar it isn't.
type BaseText = (String, Option<Extraction>);

/// Judges one block against the tracked symbols of its file.
struct BlockJudge<'v> {
    judging: JudgingContext<'v>,
    view: &'v StateView<'v>,
    tracked: Vec<Symbol>,
    in_block: BTreeSet<&'v Symbol>,
    damaged: &'v [Symbol],
    renames: BTreeMap<EntityId, RenameSuspicion>,
    unseen: BTreeSet<EntityId>,
    /// What the block takes away on purpose, and how it goes.
    leaving: Vec<(EntityId, Reason)>,
    /// The known definitions that are to live on under new names, by these.
    predecessors: BTreeMap<EntityId, EntityId>,
    /// Texts that made entities true, read once.
    bases: RefCell<BTreeMap<ArtifactHash, Rc<BaseText>>>,
}

impl<'v> BlockJudge<'v> {
    fn new(
        judging: JudgingContext<'v>,
        found: &FoundCode,
        resolution: &'v Resolution,
        unseen: BTreeSet<EntityId>,
    ) -> Self {
        let view = judging.view;
        let state_map = view.state.state_map();
        let path = resolution.path.as_ref();
        let tracked = path.map_or_else(Vec::new, |path| state_map.symbols_of(path));
        let mut judge = Self {
            leaving: Vec::new(),
            predecessors: BTreeMap::new(),
            bases: RefCell::default(),
            unseen,
            judging,
            view,
            tracked,
            in_block: resolution
                .candidates
                .iter()
                .filter_map(|candidate| candidate.entity.symbol.as_ref())
                .collect(),
            damaged: &resolution.damaged,
            renames: rename::suspected_renames(
                view,
                judging.policy.thresholds,
                (judging.episode, judging.asked),
                &|known| judging.gained.moved.contains(known),
                found,
                resolution,
            ),
        };
        judge.leaving = judge.leaving(found, resolution.extent);
        let renamed = judge.renames.iter();
        let renamed = renamed.map(|(new, it)| (new.clone(), it.known.clone()));
        let leaves =
            |(_, known): &(EntityId, EntityId)| judge.leaving.iter().any(|(it, _)| it == known);
        judge.predecessors = renamed.filter(leaves).collect();
        if let (true, Some(path)) = (judging.written.is_on_disk(), path) {
            judge.follow_disk(path);
        }
        judge
    }

    /// A call renamed or moved a definition on disk: `sed -i s/sum/total/`, or a file that went elsewhere. What lives on under another
    /// name or path is no loss, and is held to what it was.
    fn follow_disk(&mut self, path: &RelPath) {
        let view = self.view;
        let state_map = view.state.state_map();
        let is_gone = |it: &EntityId| {
            view.divergence(it).is_some() && observe::slice_on_disk(view, it).is_none()
        };
        let mut gone = state_map.entities_in(path);
        gone.retain(|it| is_gone(it) && !self.predecessors.values().any(|one| one == it));
        let new = self.in_block.iter().filter(|it| !self.tracked.contains(it));
        let new: Vec<&Symbol> = new.copied().collect();
        for symbol in &new {
            let new_entity = EntityId::symbol(path.clone(), (*symbol).clone());
            let name = symbol.last_component();
            let mut moved = state_map.entities_named(name, CORRELATION_NAMESAKES_MAX);
            moved.retain(|it| it.symbol.as_ref() == Some(*symbol) && is_gone(it));
            let suspected = self.renames.get(&new_entity).map(|it| it.known.clone());
            let suspected = suspected.filter(|it| gone.contains(it));
            let sole = (new.len() == 1 && gone.len() == 1).then(|| gone[0].clone());
            if let Some(known) = moved.pop().or(suspected).or(sole) {
                gone.retain(|it| *it != known);
                if !self.leaving.iter().any(|(leaving, _)| *leaving == known) {
                    self.leaving.push((known.clone(), Reason::MovedOrCopied));
                }
                self.predecessors.insert(new_entity, known);
            }
        }
    }

    /// What the block takes away on purpose. A definition goes if the turn has it elsewhere; if a new one resembles it and the user's
    /// text names it; or if an edit quotes it whole, or its deletion is all that a listing does and the user's text names it, and
    /// nothing known names it afterwards. A file goes if the user's text names it and nothing known names what it defined.
    fn leaving(&self, found: &FoundCode, extent: Extent) -> Vec<(EntityId, Reason)> {
        let Some(path) = found.usable_path() else {
            return Vec::new();
        };
        let file = EntityId::file(path.clone());
        let edit = found
            .edit
            .as_ref()
            .filter(|_| found.format != Format::Fence);
        if let Some(Ok(Edit::Delete)) = edit.map(|edit| &edit.edit) {
            let is_named = naming::names(self.judging.asked, &file);
            let all = hydrate::true_entities_of(self.view, path);
            let goes = is_named && !self.are_named_afterwards(found, path, &all);
            let all = all.into_iter().filter(|_| goes);
            return all.map(|it| (it, Reason::OmittedByUpdate)).collect();
        }
        let defined = found.symbols();
        let gone = self.tracked.iter().filter(|it| !defined.contains(*it));
        let gone = gone.filter_map(|symbol| {
            let entity = EntityId::symbol(path.clone(), symbol.clone());
            let divergence = self.view.divergence(&entity);
            if extent == Extent::WholeFile && self.is_elsewhere(&entity) {
                Some((entity, Reason::MovedOrCopied))
            } else if (divergence.is_none_or(|it| it == Divergence::Gone)
                || self.judging.written.is_on_disk())
                && (self.is_renamed_by_name(&entity) || self.is_deleted(found, extent, &entity))
            {
                Some((entity, Reason::OmittedByUpdate))
            } else {
                None
            }
        });
        gone.collect()
    }

    /// Whether the turn has a definition as it is in another file. A draft's blocks are all judged before any of them is true.
    fn is_elsewhere(&self, entity: &EntityId) -> bool {
        self.judging.gained.moved.contains(entity) && self.view.is_of_draft
            || lives_on_elsewhere(self.view, entity).is_some()
    }

    /// Whether a new definition of the block resembles the known one, and the user's text names that (spec §12).
    fn is_renamed_by_name(&self, known: &EntityId) -> bool {
        let asked = self.judging.asked;
        self.renames.iter().any(|(new, rename)| {
            let new = new.symbol.as_ref();
            rename.known == *known
                && new.is_some_and(|new| rename::is_named_for_renaming(asked, known, new))
        })
    }

    fn is_deleted(&self, found: &FoundCode, extent: Extent, entity: &EntityId) -> bool {
        let is_named = naming::names(self.judging.asked, entity);
        let applied = found.edit.as_ref().and_then(|it| it.outcome.as_ref().ok());
        let file = EntityId::file(entity.path.clone());
        let file = self.view.current_version(&file).map(|it| it.version);
        let is_edited = |applied: &EditBase| {
            // An edit of a file that is true as a whole changes one piece, the file.
            let is_of_file = file.is_some_and(|file| applied.changed.contains(&file));
            let mut symbol = entity.symbol.iter();
            is_of_file || symbol.any(|symbol| self.is_edited(&entity.path, symbol, applied))
        };
        let is_quoted = found.format != Format::Fence
            && applied.is_some_and(is_edited)
            && self.takes_whole(found, entity);
        let goes = is_quoted || is_named && self.only_deletes(found, extent, entity);
        let own = core::slice::from_ref(entity);
        goes && (is_named || !is_test(entity))
            && !self.are_named_afterwards(found, &entity.path, own)
    }

    /// Whether an edit takes away each line of a definition.
    fn takes_whole(&self, found: &FoundCode, entity: &EntityId) -> bool {
        let current = self.view.current_version(entity);
        let base = current
            .as_ref()
            .and_then(|it| self.base_of(&entity.path, it.artifact).ok());
        let (Some(current), Some(base)) = (current, base) else {
            return false;
        };
        let counts = |text: &str| {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            measure::line_keys(text).for_each(|line| *counts.entry(line).or_default() += 1);
            counts
        };
        let own = slice::joined(base.0.as_bytes(), &current.spans);
        let own = String::from_utf8_lossy(&own);
        let (before, after) = (counts(&base.0), counts(&found.code));
        measure::line_keys(&own).all(|line| after.get(&line) < before.get(&line))
    }

    /// Whether a listing of a file, or of what is around a definition, only takes code away from that.
    fn only_deletes(&self, found: &FoundCode, extent: Extent, entity: &EntityId) -> bool {
        let listed = match extent {
            Extent::WholeFile => Some(EntityId::file(entity.path.clone())),
            _ => entity.holders().last(),
        };
        let current = listed.and_then(|it| self.view.current_version(&it));
        let base = current
            .as_ref()
            .and_then(|it| self.base_of(&entity.path, it.artifact).ok());
        let (Some(current), Some(base), Ok(extraction)) = (current, base, &found.extraction) else {
            return false;
        };
        let old = Measurable::of(&base.0, base.1.as_ref(), &current.spans);
        let old = MeasuredCode {
            nested: &[],
            ..old.code()
        };
        let new = MeasuredCode {
            remarks: &extraction.remarks,
            ..MeasuredCode::bare(&found.code)
        };
        measure::is_deletion(old, new)
    }

    /// Whether the changed file or another known file has the name of one of the file's definitions. Where that can't be read, it may.
    fn are_named_afterwards(&self, found: &FoundCode, path: &RelPath, those: &[EntityId]) -> bool {
        let names = those.iter().filter_map(EntityId::symbol_str);
        let names: BTreeSet<&str> = names.map(last_component).collect();
        let holds_one = |text: &str| measure::words_of(text).any(|word| names.contains(word));
        let mut read = 0;
        let is_in = |path: &RelPath| {
            let file = self.view.current_version(&EntityId::file(path.clone()));
            let text = file.and_then(|file| self.view.text(file.artifact));
            text.is_none_or(|text| {
                read += text.len();
                read > SEARCHED_BYTES_MAX || holds_one(&text)
            })
        };
        let remarks = found.extraction.iter().flat_map(|it| &it.remarks);
        let map = self.view.state.state_map();
        holds_one(&measure::blanked(&found.code, remarks))
            || map.paths().filter(|it| *it != path).any(is_in)
    }

    fn is_edited(&self, path: &RelPath, symbol: &Symbol, applied: &EditBase) -> bool {
        let entity = EntityId::symbol(path.clone(), symbol.clone());
        let current = self.view.current_version(&entity);
        applied.defined.contains(symbol)
            || current.is_some_and(|current| applied.changed.contains(&current.version))
    }

    /// Each changed definition's report, in order.
    fn gate_reports(&self, block: &ResolvedBlock<'_>, changed: &[&Candidate]) -> Vec<GateReport> {
        let policy = self.judging.policy;
        let repeated = block.resolution.candidates.iter().filter(|candidate| {
            block.found.edit.is_none() && is_true_already(self.view, candidate)
        });
        let disk = repeated
            .map(|candidate| self.disk_verdict(block, candidate))
            .find(|verdict| *verdict != DiskVerdict::Agrees);
        let locked = self.view.state.scope().locked(self.judging.session);
        let judge = |candidate: &&Candidate| {
            let mut facts = self.gate_facts(block, candidate);
            // A block that writes STALE code out was written on it, whatever else it changes. An edit leaves it alone.
            if facts.disk == DiskVerdict::Agrees {
                facts.disk = disk.unwrap_or(DiskVerdict::Agrees);
            }
            // A class isn't STALE for what an edit leaves alone: each of its methods is judged by itself.
            let is_holder = facts.disk == DiskVerdict::Stale
                && block.found.edit.is_some()
                && self.changes_parts_alone(block, candidate);
            if is_holder {
                facts.disk = DiskVerdict::Agrees;
            }
            let mut report = gate::judge(&facts, policy.thresholds, policy.profile);
            let failed = |report: &GateReport| report.own_failures().eq([Reason::Confirmed]);
            if block.resolution.reason == Reason::NoGrammar && failed(&report) {
                report.conclusion = Some(Reason::Unjudged);
            }
            report.set_parts_alone(is_holder);
            if !locked.is_empty() {
                let is_within = locked.contains(&candidate.entity.path);
                report.judge_scope(is_within);
            }
            report
                .verdicts
                .extend(block.resolution.correlation.map(|(seen, needed)| Verdict {
                    rule: Reason::CorrelatedWithOneFile,
                    met: true,
                    seen: seen.into(),
                    needed: needed.into(),
                }));
            report
        };
        let mut reports: Vec<GateReport> = changed.iter().map(judge).collect();
        if let Some(path) = &block.resolution.path
            && !policy.code_spec.is_empty()
        {
            let (spec, code) = (&policy.code_spec, &*block.found.code);
            let counts = block.found.format != Format::ToolCall && spec.allows_one_block();
            let blocks = self.judging.gained.blocks * u32::from(counts);
            let grammars = self.judging.grammars;
            let broken = code_spec::broken_rules(self.view, grammars, spec, (path, code), blocks);
            for report in &mut reports {
                report.judge_spec(saturating_u32(broken.len()), blocks);
            }
        }
        reports
    }

    fn changes_parts_alone(&self, block: &ResolvedBlock<'_>, holder: &Candidate) -> bool {
        let parts = block.resolution.candidates.iter().map(Candidate::placed);
        let code = block.found.code.as_bytes();
        holders::changes_parts_alone(self.view, code, holder.placed(), parts)
    }

    /// Which of the changed definitions are kept out. A block is refused as a whole, because its reader would apply it as a whole; of
    /// what disk holds already, what fails and what holds that.
    fn refused(&self, changed: &[&Candidate], reports: &[GateReport]) -> Vec<bool> {
        let failed = changed.iter().zip(reports);
        let failed = failed.filter_map(|(it, report)| (!report.passed).then_some(*it));
        let failed: Vec<&Candidate> = failed.collect();
        let is_refused = |candidate: &&Candidate| {
            let mut failed = failed.iter();
            failed.any(|failed| {
                let is_inside = || failed.spans.iter().all(|it| it.is_in(&candidate.spans));
                !self.judging.written.is_on_disk()
                    || candidate.entity.symbol.is_none()
                    || is_inside()
            })
        };
        changed.iter().map(is_refused).collect()
    }

    /// Records a refusal: a version that passed by itself gets the conclusion of the first one that didn't.
    fn record_refusal(
        &self,
        recorder: &mut Recorder<'_>,
        version: &Version,
        mut report: GateReport,
        conclusion: Option<Reason>,
    ) {
        if report.passed {
            report.passed = false;
            report.conclusion = conclusion;
            // What holds a loss on disk has lost it, too.
            let kept = report.verdicts.iter_mut();
            let mut kept = kept.filter(|it| it.rule == Reason::CodeKept);
            if let (true, Some(kept)) = (self.judging.written.is_on_disk(), kept.next()) {
                kept.met = false;
            }
        }
        let rename = self.renames.get(&version.entity);
        recorder.push(Event::PromotionRefused(PromotionRefused {
            version: version.id,
            entity: version.entity.clone(),
            rename_of: rename.map(|suspicion| suspicion.known.clone()),
            report,
        }));
    }

    fn gate_facts(&self, block: &ResolvedBlock<'_>, candidate: &Candidate) -> GateFacts {
        let own = self.view.current_version(&candidate.entity);
        let (definitions, missing) = self.definitions_at_stake(block, candidate, own.as_ref());
        let rename = self.renames.get(&candidate.entity);
        let predecessor = self.predecessors.get(&candidate.entity);
        let predecessor = predecessor.and_then(|known| self.view.current_version(known));
        let without_leaving = |base| match &predecessor {
            Some(_) => base,
            None => self.without_leaving(candidate, own.as_ref(), base),
        };
        let current = own.clone().or_else(|| predecessor.clone());
        let structure = StructureComparison::of(block.found, candidate, current.as_ref());
        let users_figures = self.users_figures(candidate, own.as_ref());
        let (moved, brought) = self.moved(block.found, candidate, own.as_ref());
        let measure = self.measure_of(block, candidate, current.as_ref(), brought);
        GateFacts {
            level: block.resolution.level,
            completeness: block.completeness,
            bodies_stubbed: saturating_u32(structure.bodies_stubbed),
            definitions_repeated: saturating_u32(newly_repeated_heads(block, candidate)),
            figures: resolve::total_figures([structure.figures, moved].into_iter()),
            base: structure.base.map(without_leaving),
            users_figures: users_figures.unwrap_or(None).map(without_leaving),
            symbols_missing: saturating_u32(missing),
            symbols_of_base: saturating_u32(definitions),
            measure: users_figures.and(measure).ok(),
            name: match rename {
                None => NameVerdict::Kept,
                Some(it) if self.leaving.iter().any(|(entity, _)| *entity == it.known) => {
                    NameVerdict::Kept
                }
                Some(it) if it.known.path == candidate.entity.path => {
                    NameVerdict::Suspected(it.percent)
                }
                Some(it) => NameVerdict::Elsewhere(it.percent),
            },
            removal: self.removal_verdict(candidate),
            base_verdict: self.base_verdict(block, candidate),
            disk: self.disk_verdict(block, candidate),
        }
    }

    /// The structure and the parts that the reply moved out of this version into new definitions.
    fn moved(
        &self,
        found: &FoundCode,
        candidate: &Candidate,
        current: Option<&TrueEntity>,
    ) -> (Figures, PartCounts) {
        let is_part = candidate.entity.symbol.is_some();
        let code = current.filter(|_| is_part && !self.judging.gained.new.is_empty());
        let code = code.and_then(|it| self.slices_text(it.artifact, &it.spans).ok());
        code.map_or_else(Default::default, |code| {
            let new = slice::joined(found.code.as_bytes(), &candidate.spans);
            self.judging
                .gained
                .moved_from(&code, &String::from_utf8_lossy(&new))
        })
    }

    /// The figures of the last version that the user supplied or confirmed, if the model changed it since, and the candidate
    /// removes more without being asked to.
    ///
    /// # Errors
    /// When the Vault can't give that version.
    fn users_figures(
        &self,
        candidate: &Candidate,
        current: Option<&TrueEntity>,
    ) -> Result<Option<Figures>, Unreadable> {
        let Some(current) = current.filter(|current| current.origin != Origin::User) else {
            return Ok(None);
        };
        let takes_away = candidate.figures.tokens < current.figures.tokens
            || candidate.figures.nodes < current.figures.nodes;
        // Many small cuts by a model would each pass against its own last version: what it takes away is held against the
        // user's, too.
        if candidate.entity.symbol.is_none() || !takes_away {
            return Ok(None);
        }
        let former = self.view.former_versions(&candidate.entity);
        let mut confirmed = former.iter().rev();
        let Some(confirmed) = confirmed.find(|former| former.origin == Origin::User) else {
            return Ok(None);
        };
        let code = self.view.artifact_content(confirmed.artifact);
        let code = text_on_record(code)?;
        // A grammar that can't read the text any more has no figures for it; the comparison by lines needs none.
        let extraction = self.extraction_of(&candidate.entity.path, &code);
        Ok(extraction.map(|extraction| {
            let definitions = extraction.definitions.iter();
            let own = definitions.filter(|definition| confirmed.spans.contains(&definition.span));
            resolve::total_figures(own.map(|definition| definition.figures))
        }))
    }

    /// What the candidate takes from the true code: parts of a definition, imports of a file.
    ///
    /// # Errors
    /// When the Vault can't give the true code.
    fn measure_of(
        &self,
        block: &ResolvedBlock<'_>,
        candidate: &Candidate,
        current: Option<&TrueEntity>,
        brought: PartCounts,
    ) -> Result<Measure, Unreadable> {
        let (Some(current), Ok(extraction)) = (current, &block.found.extraction) else {
            // Without a base nothing can be lost, and code that isn't parsed is never CONFIRMED.
            return Ok(Measure::UNHARMED);
        };
        let code = &*block.found.code;
        if candidate.entity.symbol.is_none() {
            let before = self.slices_text(current.artifact, &current.spans)?;
            let known = self.extraction_of(&candidate.entity.path, &before);
            let imports = known.map_or_else(Vec::new, |known| known.imports);
            let new = (code, &extraction.imports[..]);
            return Ok(measure::measure_imports((&before, &imports), new));
        }
        let base = self.base_of(&current.entity.path, current.artifact)?;
        let (text, known) = &*base;
        let measured = |old: &[Span], new: &[Span]| {
            let old = Measurable::of(text, known.as_ref(), old);
            let new = Measurable::of(code, Some(extraction), new);
            measure::measure(old.code(), new.code(), brought)
        };
        if current.spans.len() != candidate.spans.len() {
            return Ok(measured(&current.spans, &candidate.spans));
        }
        // Each of several definitions by itself: damage to one may be a small part of all of them together.
        let pairs = current.spans.iter().zip(&candidate.spans);
        let one = core::slice::from_ref;
        let worst = pairs.map(|(old, new)| measured(one(old), one(new)));
        worst.max_by_key(|it| it.effect).ok_or(Unreadable)
    }

    fn slices_text(&self, artifact: ArtifactHash, spans: &[Span]) -> Result<String, Unreadable> {
        text_on_record(self.view.artifact_slices(artifact, spans))
    }

    /// The text that made an entity true, as it was read in whole: what a part of it is depends on what is around it.
    fn base_of(&self, path: &RelPath, artifact: ArtifactHash) -> Result<Rc<BaseText>, Unreadable> {
        if let Some(base) = self.bases.borrow().get(&artifact) {
            return Ok(Rc::clone(base));
        }
        let text = text_on_record(self.view.artifact_content(artifact))?;
        let extraction = self.extraction_of(path, &text);
        let base = Rc::new((text, extraction));
        self.bases.borrow_mut().insert(artifact, Rc::clone(&base));
        Ok(base)
    }

    fn extraction_of(&self, path: &RelPath, text: &str) -> Option<Extraction> {
        let grammars = self.judging.grammars;
        let language = grammars.language_of_path(path)?;
        grammars.extract(language, text.as_bytes()).ok()
    }

    /// Whether the candidate's base is still the code that the model saw. Changes by this very reply don't count as a move.
    fn base_verdict(&self, block: &ResolvedBlock<'_>, candidate: &Candidate) -> BaseVerdict {
        let edit = block.found.edit.as_ref();
        if edit.is_some_and(|edit| edit.outcome.is_err()) {
            return BaseVerdict::Unmatched;
        }
        let (entity, episode) = (&candidate.entity, block.episode);
        match (
            self.view.state.sessions().version_shown(episode, entity),
            self.view.current_version(entity),
        ) {
            (Some(shown), Some(current))
                if current.version != shown && current.episode != episode =>
            {
                BaseVerdict::Moved
            }
            _ if self.unseen.contains(entity) => BaseVerdict::Unseen,
            _ => BaseVerdict::Unmoved,
        }
    }

    fn disk_verdict(&self, block: &ResolvedBlock<'_>, candidate: &Candidate) -> DiskVerdict {
        match self.judging.written {
            WriteState::OnDisk(_) => DiskVerdict::Agrees,
            WriteState::NotYet => {
                disk_verdict_in(self.view, (block.found, block.resolution), candidate)
            }
        }
    }

    /// Whether the candidate brings back a symbol that the user removed recently and doesn't name now.
    fn removal_verdict(&self, candidate: &Candidate) -> RemovalVerdict {
        let entity = &candidate.entity;
        let is_asked_for = entity
            .symbol
            .as_ref()
            .is_none_or(|symbol| naming::holds_word(self.judging.asked, symbol.last_component()));
        if self.view.state.tombstones().contains(entity) && !is_asked_for {
            RemovalVerdict::Tombstoned
        } else {
            RemovalVerdict::None
        }
    }

    /// A symbol that lives on under what is suspected to be its new name is missing for that reason alone.
    fn is_renamed(&self, path: &RelPath, symbol: &Symbol) -> bool {
        self.renames.values().any(|suspicion| {
            suspicion.known.path == *path && suspicion.known.symbol.as_ref() == Some(symbol)
        })
    }

    /// The figures of a candidate's base but for what leaves the file, or what leaves the class that it is.
    fn without_leaving(
        &self,
        candidate: &Candidate,
        current: Option<&TrueEntity>,
        base: Figures,
    ) -> Figures {
        let is_held = |entity: &EntityId| match (&candidate.entity.symbol, &entity.symbol) {
            (None, _) => true,
            (Some(_), Some(left)) => {
                current.is_some_and(|current| self.is_within(&entity.path, left, current))
            }
            (Some(_), None) => false,
        };
        let leaving = self.leaving.iter().filter(|(entity, _)| is_held(entity));
        let leaving = leaving.filter_map(|(entity, _)| self.view.current_version(entity));
        leaving.fold(base, |base, leaving| Figures {
            nodes: base.nodes.saturating_sub(leaving.figures.nodes),
            tokens: base.tokens.saturating_sub(leaving.figures.tokens),
        })
    }

    fn is_leaving(&self, symbol: &Symbol) -> bool {
        let mut leaving = self.leaving.iter();
        leaving.any(|(entity, _)| entity.symbol.as_ref() == Some(symbol))
    }

    /// The number of definitions that the new code must still hold, and how many of them it lacks. For a whole file these are
    /// all of its symbols; for a fragment those nested in the replaced definition, those that the block would damage, and
    /// those whose text an edit changes. Several definitions of one symbol count each.
    fn definitions_at_stake(
        &self,
        block: &ResolvedBlock<'_>,
        candidate: &Candidate,
        current: Option<&TrueEntity>,
    ) -> (usize, usize) {
        let path = &candidate.entity.path;
        let edit = block.found.edit.as_ref();
        let edited = edit.and_then(|edit| edit.outcome.as_ref().ok());
        let is_edited = |symbol: &Symbol| edited.is_some_and(|it| self.is_edited(path, symbol, it));
        // What else a file lacks on disk is the file's loss.
        let is_whole = block.resolution.extent == Extent::WholeFile
            && !(self.judging.written.is_on_disk() && candidate.entity.symbol.is_some());
        let concerns = |symbol: &Symbol| {
            is_whole
                || self.damaged.contains(symbol)
                || is_edited(symbol)
                || current.is_some_and(|current| self.is_within(path, symbol, current))
        };
        // What the base hides already isn't lost by the change.
        let is_readable = |symbol: &Symbol| match &block.found.broken_base {
            Some(base) => base.sound.contains(symbol),
            None => true,
        };
        let at_stake = |symbol: &&Symbol| concerns(symbol) && is_readable(symbol);
        let symbols = self.tracked.iter().filter(at_stake);
        let (all, missing) = symbols.fold((0, 0), |(all, missing), symbol| {
            (
                all + 1,
                missing
                    + usize::from(
                        !self.in_block.contains(symbol)
                            && !self.is_renamed(path, symbol)
                            && !self.is_leaving(symbol),
                    ),
            )
        });
        let before = current.map_or(1, |current| current.spans.len());
        let lost = before.saturating_sub(candidate.spans.len());
        (all + before.saturating_sub(1), missing + lost)
    }

    /// Whether the symbol's current definition is inside `outer`, or is `outer` itself.
    fn is_within(&self, path: &RelPath, symbol: &Symbol, outer: &TrueEntity) -> bool {
        let entity = EntityId::symbol(path.clone(), symbol.clone());
        let inner = self.view.current_version(&entity);
        inner.is_some_and(|inner| inner.is_within(outer))
    }
}

/// A candidate's figures and those of its base: of all of it or, with several definitions, of the one that shrank most.
struct StructureComparison {
    figures: Figures,
    base: Option<Figures>,
    bodies_stubbed: usize,
}

impl StructureComparison {
    fn of(found: &FoundCode, candidate: &Candidate, current: Option<&TrueEntity>) -> Self {
        let symbol = candidate.entity.symbol.as_ref();
        let known = symbol.and_then(|symbol| found.true_overloads.get(symbol));
        let Some(known) = known else {
            let base = current.map(|current| current.figures);
            let is_stub = !candidate.definitions.is_empty()
                && candidate
                    .definitions
                    .iter()
                    .all(|definition| definition.body == Body::Stub);
            let is_less = base.is_some_and(|base| base.tokens > candidate.figures.tokens);
            return Self {
                figures: candidate.figures,
                base,
                bodies_stubbed: usize::from(is_stub && is_less),
            };
        };
        let pairs = known.paired_by_head(found.code.as_bytes(), &candidate.definitions);
        let stubbed = pairs
            .iter()
            .filter(|(old, new)| new.body == Body::Stub && old.figures.tokens > new.figures.tokens);
        let bodies_stubbed = stubbed.count();
        let most_shrunk = pairs.into_iter().min_by_key(|(old, new)| {
            let kept = |old: u32, new: u32| u64::from(new) * 1000 / u64::from(old.max(1));
            kept(old.figures.tokens, new.figures.tokens)
                .min(kept(old.figures.nodes, new.figures.nodes))
        });
        Self {
            figures: most_shrunk.map_or(candidate.figures, |(_, new)| new.figures),
            base: most_shrunk.map(|(old, _)| old.figures),
            bodies_stubbed,
        }
    }
}

/// Definitions with the same head as an earlier one. A whole file may have as many of them as before (the branches of
/// an `#ifdef`); out of a fragment nobody can tell the old one of two from the new one.
fn newly_repeated_heads(block: &ResolvedBlock<'_>, candidate: &Candidate) -> usize {
    let again = namesakes::repeated_heads(block.found.code.as_bytes(), &candidate.definitions);
    let is_whole = block.resolution.extent == Extent::WholeFile || block.found.edit.is_some();
    let symbol = candidate.entity.symbol.as_ref();
    let known = symbol.and_then(|symbol| block.found.true_overloads.get(symbol));
    match known {
        Some(known) if is_whole => {
            again.saturating_sub(namesakes::repeated_heads(&known.text, &known.namesakes))
        }
        _ => again,
    }
}

/// What is true was text when it was recorded, so bytes that aren't are as good as none.
fn text_on_record(bytes: Option<Vec<u8>>) -> Result<String, Unreadable> {
    String::from_utf8(bytes.ok_or(Unreadable)?).map_err(|_| Unreadable)
}

fn saturating_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The entities that a block would replace unseen by the model (spec §12). An edit that applies quotes the code that it
/// replaces. A file, or what holds the definitions that a fence puts in their places, counts as seen with those of its definitions
/// that the block changes, since the others stay.
fn unseen_entities(
    judging: JudgingContext<'_>,
    found: &FoundCode,
    changed: &[&Candidate],
) -> BTreeSet<EntityId> {
    let JudgingContext { view, episode, .. } = judging;
    // Code of one of several definitions is applied like an edit, and quotes nothing. What a call has put on disk replaces nothing unseen.
    if judging.written.is_on_disk() || found.edit.is_some() && found.format != Format::Fence {
        return BTreeSet::new();
    }
    let is_replaced = |candidate: &&Candidate| {
        let entity = &candidate.entity;
        // What this very reply made before is its own.
        let is_own =
            |current: &TrueEntity| (current.origin, current.episode) == (Origin::Model, episode);
        view.current_version(entity)
            .is_some_and(|current| !is_own(&current))
            && view
                .state
                .sessions()
                .version_shown(episode, entity)
                .is_none()
    };
    let holds_change = |outer: &Candidate| {
        let is_inside = |span: &Span| {
            let mut around = outer.spans.iter();
            around.any(|it| it != span && it.start <= span.start && span.end <= it.end)
        };
        let mut inner = changed.iter();
        inner.any(|inner| inner.entity.symbol.is_some() && inner.spans.iter().all(is_inside))
    };
    let is_known_by_parts = |candidate: &&Candidate| match candidate.entity.symbol {
        None => {
            let path = &candidate.entity.path;
            !view.state.state_map().symbols_of(path).is_empty()
        }
        Some(_) => found.edit.is_some() && holds_change(candidate),
    };
    let (holders, others): (Vec<&Candidate>, Vec<&Candidate>) = changed
        .iter()
        .copied()
        .filter(is_replaced)
        .partition(is_known_by_parts);
    let others: Vec<EntityId> = others.into_iter().map(|it| it.entity.clone()).collect();
    if others.is_empty() {
        return BTreeSet::new();
    }
    let seen = (judging.seen)(&others);
    let mut unseen: BTreeSet<EntityId> = others.into_iter().collect();
    unseen.retain(|entity| !seen.contains(entity));
    if !unseen.is_empty() {
        unseen.extend(holders.into_iter().map(|it| it.entity.clone()));
    }
    unseen
}

/// Whether a proposal's base has changed since it was judged. A whole file's proposal is complete only as long as none of
/// the file's symbols changes.
pub(crate) fn base_verdict_since(view: &StateView<'_>, proposal: &Proposal) -> BaseVerdict {
    let entity = &proposal.entity;
    let is_later = |entity: &EntityId| {
        view.current_version(entity)
            .is_some_and(|current| current.episode > proposal.episode)
    };
    let path = &entity.path;
    let mut others = view.state.state_map().entities_in(path).into_iter();
    if is_later(entity) || entity.symbol.is_none() && others.any(|other| is_later(&other)) {
        BaseVerdict::Moved
    } else {
        BaseVerdict::Unmoved
    }
}

/// The disk's verdict on a candidate of a block. A client may be writing the block's edits of one file one by one: while each
/// definition on disk is as it is true or as the block has it, and one is as the block has it, the file is on its way.
fn disk_verdict_in(
    view: &StateView<'_>,
    (found, resolution): (&FoundCode, &Resolution),
    candidate: &Candidate,
) -> DiskVerdict {
    let own = disk_verdict(view, &candidate.entity, candidate.slice);
    if own != DiskVerdict::Stale {
        return own;
    }
    // Where there is no file any more, a whole one overwrites nothing; a part would make code true that is nowhere.
    let is_gone = view.divergence(&candidate.entity) == Some(Divergence::Gone);
    if is_gone && resolution.extent == Extent::WholeFile && found.edit.is_none() {
        return DiskVerdict::Agrees;
    }
    if candidate.entity.symbol.is_some() {
        return own;
    }
    let mut written = false;
    let state_map = view.state.state_map();
    let is_on_its_way = resolution.candidates.iter().all(|part| {
        let symbol = part.entity.symbol.as_ref();
        let on_disk = symbol.map(|symbol| state_map.slice_on_disk(&part.entity.path, symbol));
        // A broken file hides it.
        let Some(on_disk) = on_disk.unwrap_or_default() else {
            return true;
        };
        let truth = view.current_version(&part.entity).map(|it| it.slice);
        written |= part.entity.symbol.is_some() && on_disk != truth;
        part.entity.symbol.is_none() || on_disk == truth || on_disk == Some(part.slice)
    });
    if is_on_its_way && written {
        DiskVerdict::Agrees
    } else {
        own
    }
}

/// The disk's verdict on an entity that is to become this slice. Disk that holds it already agrees: clients write before a reply
/// is over.
pub(crate) fn disk_verdict(
    view: &StateView<'_>,
    entity: &EntityId,
    slice: SliceHash,
) -> DiskVerdict {
    let on_disk = observe::slice_on_disk(view, entity);
    match (view.divergence(entity), view.disk_finding(&entity.path)) {
        (Some(Divergence::Unreadable), _) | (None, Some(LastFinding::Unreadable(_))) => {
            DiskVerdict::Unreadable
        }
        _ if on_disk == Some(slice) => DiskVerdict::Agrees,
        (Some(Divergence::Contradicted), _) => DiskVerdict::Unacknowledged,
        (Some(_), _) => DiskVerdict::Stale,
        // A file of which nothing is known holds what nobody has seen, whatever it defines.
        (None, Some(LastFinding::File(_)))
            if view.current_version(entity).is_none()
                && (on_disk.is_some() || !view.state.state_map().tracks(&entity.path)) =>
        {
            DiskVerdict::Unacknowledged
        }
        (None, _) => DiskVerdict::Agrees,
    }
}
