//! The model's code: captured, resolved, judged by the gates, promoted as a whole or not at all (spec §4–§7, §15.5).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::Recorder;
use super::found_code::FoundCode;
use super::found_edit;
use super::namesakes;
use super::observe;
use super::promote::{self, Containers, Finding};
use super::rename::{self, Suspicion};
use super::resolve::{self, Candidate, Resolution};
use crate::artifact::{Level, Origin, Version};
use crate::damage::{self, Code, Comparison, Content, Damage};
use crate::entity::{EntityId, Symbol};
use crate::event::{DiskFinding, Event, Extent, Format, NoticeIssued, PromotionRefused};
use crate::extract::{Body, Extraction, Grammars};
use crate::gate::{
    self, BaseVerdict, Completeness, DiskVerdict, Facts, GateReport, NameVerdict, RemovalVerdict,
    Thresholds, Verdict,
};
use crate::hash::{ArtifactHash, SliceHash};
use crate::ids::{EpisodeId, SessionId};
use crate::path::RelPath;
use crate::policy::Policy;
use crate::reason::Reason;
use crate::slice::{self, Figures, Span};
use crate::view::{Current, Divergence, Proposal, View};
use crate::word_list;

/// A reply that is being judged.
#[derive(Clone, Copy)]
pub struct Judging<'j> {
    /// The state; it must already hold what disk says of the blocks' paths, by an observation of this episode.
    pub view: &'j dyn View,
    /// What steers the gates.
    pub policy: &'j Policy,
    /// The reply's episode.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// What the user had asked, without the code in it.
    pub asked: &'j str,
    /// Lines that the reply adds anywhere, as [`lines_gained`] tells.
    pub gained: &'j BTreeSet<String>,
    /// The parsers.
    pub grammars: &'j dyn Grammars,
    /// Whether the code is on disk.
    pub written: Written,
    /// Which of some entities the model saw as they are true: in what went to it for this reply, or because it wrote them in
    /// this conversation.
    pub seen: &'j dyn Fn(&[EntityId]) -> BTreeSet<EntityId>,
}

/// Whether the code that is judged is on disk by the agent's own hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is what a reply says.
    NotYet,
    /// It is what disk holds after a reply whose edit was refused: what disk holds can't speak against it.
    OnDisk,
}

/// Whether just this text of a file was judged before, so that it would be refused again. What was refused as STALE alone may
/// pass: its client had written it before its reply was judged.
#[must_use]
pub fn was_judged(view: &dyn View, found: &FoundCode) -> bool {
    let proposals = found.usable_path().map(|path| view.proposals_under(path));
    let mut proposals = proposals.into_iter().flatten();
    proposals.any(|proposal| {
        proposal.artifact == found.artifact && proposal.refused_for() != Some(Reason::Stale)
    })
}

/// Decides about one block of the model's.
#[must_use]
pub fn propose(judging: Judging<'_>, found: &FoundCode, containers: &Containers) -> Vec<Event> {
    let Judging {
        view,
        policy,
        episode,
        session,
        ..
    } = judging;
    let mut recorder = Recorder::new(view);
    let resolution = resolve::resolve(view, policy.thresholds, found, Origin::Model);
    let changed: Vec<&Candidate> = resolution
        .candidates
        .iter()
        .filter(|candidate| !is_true_already(view, candidate))
        .collect();
    let finding = Finding {
        episode,
        origin: Origin::Model,
        completeness: completeness(view, found, &resolution),
        found,
        containers,
        resolution: &resolution,
    };
    let versions = promote::record(&mut recorder, &finding, &changed);
    let base = Base::of(judging, found, &resolution, &changed);
    let reports = base.judge(&finding, &changed);
    match reports.iter().position(|report| !report.passed) {
        None => {
            for (version, report) in versions.iter().zip(reports) {
                let version = (version.id, &version.entity);
                promote::promote(&mut recorder, episode, Origin::Model, version, report);
            }
            let promoted = versions.iter().map(|version| &version.entity);
            promote::supersede_older_whole(&mut recorder, episode, Origin::Model, promoted);
        }
        Some(first) => base.refuse(&mut recorder, &versions, reports, first),
    }
    let complaint = complaint(view, found, &resolution, recorder.refused())
        .filter(|complaint| !is_left_to_the_client(view, found, complaint, &versions));
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

/// Lines that code of one reply adds to definitions, or in new ones: there may stand what it takes out of others.
#[must_use]
pub fn lines_gained(view: &dyn View, found: &[FoundCode]) -> BTreeSet<String> {
    let mut gained = BTreeSet::new();
    for found in found {
        let Ok(extraction) = &found.extraction else {
            continue;
        };
        for definition in &extraction.definitions {
            let after = definition.span.of(found.code.as_bytes());
            let known = found.usable_path().and_then(|path| {
                let entity = EntityId::symbol(path.clone(), definition.symbol.clone());
                let current = view.current(&entity)?;
                view.slices(current.artifact, &current.spans)
            });
            let before = known.unwrap_or_default();
            let before: BTreeSet<String> =
                damage::line_keys(&String::from_utf8_lossy(&before)).collect();
            let after = String::from_utf8_lossy(after);
            gained.extend(damage::line_keys(&after).filter(|key| !before.contains(key)));
        }
    }
    gained
}

/// Where the outermost definitions are that stand inside of one that these spans hold, in the text of the spans.
fn definitions_within(extraction: &Extraction, spans: &[Span]) -> Vec<Span> {
    let is_inside = |span: Span, around: Span| around.start <= span.start && span.end <= around.end;
    let mut nested: Vec<Span> = Vec::new();
    let mut outer: Option<Span> = None;
    // Outer definitions come before inner ones.
    for span in extraction
        .definitions
        .iter()
        .map(|definition| definition.span)
    {
        if !spans.iter().any(|around| is_inside(span, *around)) {
            continue;
        }
        match (outer, nested.last()) {
            (Some(around), last) if is_inside(span, around) => {
                if !last.is_some_and(|last| is_inside(span, *last)) {
                    nested.push(span);
                }
            }
            _ => outer = Some(span),
        }
    }
    slice::within_joined(&nested, spans)
}

fn worst_first(comparison: &Comparison) -> (bool, Option<Damage>, u8) {
    let Comparison {
        damage,
        kept_percent,
    } = *comparison;
    (damage.is_none(), damage, kept_percent)
}

/// How words begin that ask for code to be taken out, one a line, in the languages that people speak to models in.
const REMOVAL_WORDS: &str = include_str!("removal_words.txt");

/// Whether the user asks for code to be taken out. A name of code, such as `remove_all`, asks for nothing.
fn asks_for_removal(asked: &str) -> bool {
    let is_prose = |word: &&str| {
        let is_name =
            |c: char| matches!(c, '_' | '`' | ':' | '(' | '/' | '.') || c.is_ascii_digit();
        !word.trim_end_matches(['.', ':', ',']).contains(is_name)
    };
    let asked = asked.to_lowercase();
    let words: Vec<&str> = asked.split_whitespace().filter(is_prose).collect();
    word_list::entries(REMOVAL_WORDS).any(|asking| {
        let has_no_spaces = asking.chars().any(|c| c >= '\u{3000}');
        let says = |word: &&str| word.starts_with(asking) || has_no_spaces && word.contains(asking);
        words.iter().any(says)
    })
}

/// Whether all of the block is there. A text that breaks off is cut short, whatever its fence says; a placeholder that
/// is part of what is true already stands for nothing.
fn completeness(view: &dyn View, found: &FoundCode, resolution: &Resolution) -> Completeness {
    let Ok(extraction) = &found.extraction else {
        return found.completeness;
    };
    match found.completeness {
        Completeness::Full if extraction.breaks_off => Completeness::Truncated,
        Completeness::Elided if found.edit.is_none() => {
            let mut before = String::new();
            for candidate in &resolution.candidates {
                let current = view.current(&candidate.entity);
                let base =
                    current.and_then(|current| view.slices(current.artifact, &current.spans));
                before.push_str(&String::from_utf8_lossy(&base.unwrap_or_default()));
            }
            match found_edit::elides_anew(&found.code, &extraction.elisions, &before) {
                true => Completeness::Elided,
                false => Completeness::Full,
            }
        }
        known => known,
    }
}

fn is_true_already(view: &dyn View, candidate: &Candidate) -> bool {
    view.current(&candidate.entity)
        .is_some_and(|current| current.slice == candidate.slice)
}

/// What the next prompt should say.
struct Complaint {
    reason: Reason,
    entity: Option<EntityId>,
    other: Option<EntityId>,
}

impl Recorder<'_> {
    /// The first refusal. A refusal is recorded with the rule that caused it, so of several the one that failed by
    /// itself is named.
    fn refused(&self) -> Option<&PromotionRefused> {
        let refusals = self.events().iter().filter_map(|event| match event {
            Event::PromotionRefused(refused) => Some(refused),
            _ => None,
        });
        refusals
            .clone()
            .find(|refused| refused.report.failed_by_itself())
            .or_else(|| refusals.clone().next())
    }
}

/// Whether nothing is said of a tool call's code. Its client's own tool says that an edit doesn't apply; that a file's
/// language isn't read here is nothing that anybody could act on; and what was refused is said once, however often the
/// file is edited elsewhere.
fn is_left_to_the_client(
    view: &dyn View,
    found: &FoundCode,
    complaint: &Complaint,
    versions: &[Version],
) -> bool {
    if !matches!(found.format, Format::ToolCall | Format::Disk) {
        return false;
    }
    let was_said = |version: &Version| {
        let mut before = view.proposals_for(&version.entity).into_iter();
        before.any(|proposal| {
            proposal.slice == version.slice && proposal.refused_for() == Some(complaint.reason)
        })
    };
    match complaint.reason {
        Reason::BaseUnknown
        | Reason::EditMalformed
        | Reason::EditNeedsWholeFile
        | Reason::EditTextNotFound
        | Reason::EditTextNotUnique
        | Reason::FileExists
        | Reason::Unlinked => true,
        _ => versions
            .iter()
            .filter(|version| Some(&version.entity) == complaint.entity.as_ref())
            .any(was_said),
    }
}

/// What the next prompt should say of this block.
fn complaint(
    view: &dyn View,
    found: &FoundCode,
    resolution: &Resolution,
    refused: Option<&PromotionRefused>,
) -> Option<Complaint> {
    let of_file = |reason| Complaint {
        reason,
        entity: resolution.path.clone().map(EntityId::file),
        other: None,
    };
    if found.edit.is_some() && resolution.level == Level::Inferred {
        return Some(of_file(resolution.reason));
    }
    if resolution.reason == Reason::ParseErrors && found.format == Format::ToolCall {
        return Some(Complaint {
            reason: Reason::ParseErrors,
            entity: found.usable_path().cloned().map(EntityId::file),
            other: None,
        });
    }
    if resolution.level != Level::Confirmed {
        return found.claims_an_entity().then_some(Complaint {
            reason: Reason::Unlinked,
            entity: None,
            other: None,
        });
    }
    let refused = refused?;
    let reason = refused.report.conclusion?;
    let file = stale_file(view, &refused.entity).filter(|_| reason == Reason::Stale);
    Some(match file {
        Some(file) => Complaint {
            reason,
            entity: Some(file),
            other: Some(refused.entity.clone()),
        },
        None => Complaint {
            reason,
            entity: Some(refused.entity.clone()),
            other: refused
                .rename_of
                .clone()
                .filter(|_| reason != Reason::Stale),
        },
    })
}

/// The tracked symbols of the block's file, and what the block does to them.
struct Base<'v> {
    judging: Judging<'v>,
    view: &'v dyn View,
    tracked: Vec<Symbol>,
    in_block: BTreeSet<&'v Symbol>,
    damaged: &'v [Symbol],
    renames: BTreeMap<EntityId, Suspicion>,
    unseen: BTreeSet<EntityId>,
}

impl<'v> Base<'v> {
    fn of(
        judging: Judging<'v>,
        found: &FoundCode,
        resolution: &'v Resolution,
        changed: &[&Candidate],
    ) -> Self {
        let view = judging.view;
        Self {
            unseen: unseen(judging, found, changed),
            judging,
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
            renames: rename::suspected(
                view,
                judging.policy.thresholds,
                (judging.episode, judging.asked),
                found,
                resolution,
            ),
        }
    }

    /// Each changed definition's report, in order.
    fn judge(&self, finding: &Finding<'_>, changed: &[&Candidate]) -> Vec<GateReport> {
        let policy = self.judging.policy;
        let repeated = finding
            .resolution
            .candidates
            .iter()
            .filter(|candidate| is_true_already(self.view, candidate));
        let disk = repeated
            .map(|candidate| self.disk_verdict(candidate))
            .find(|verdict| *verdict != DiskVerdict::Agrees);
        let judge = |candidate: &&Candidate| {
            let mut facts = self.facts(finding, candidate);
            // A block that repeats STALE code was written on it, whatever else it changes.
            if facts.disk == DiskVerdict::Agrees {
                facts.disk = disk.unwrap_or(DiskVerdict::Agrees);
            }
            let mut report = gate::judge(&facts, policy.thresholds, policy.profile);
            report.verdicts.extend(
                finding
                    .resolution
                    .correlation
                    .map(|percent| correlated(percent, policy.thresholds)),
            );
            report
        };
        changed.iter().map(judge).collect()
    }

    /// A block stands or falls as a whole, because its reader would apply it as a whole: what passed by itself is kept
    /// out for the first one that didn't.
    fn refuse(
        &self,
        recorder: &mut Recorder<'_>,
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
            let rename = self.renames.get(&version.entity);
            recorder.push(Event::PromotionRefused(PromotionRefused {
                episode: self.judging.episode,
                version: version.id,
                entity: version.entity.clone(),
                rename_of: rename.map(|suspicion| suspicion.known.clone()),
                report,
            }));
        }
    }

    fn facts(&self, finding: &Finding<'_>, candidate: &Candidate) -> Facts {
        let current = self.view.current(&candidate.entity);
        let (definitions, missing) = self.definitions(finding, candidate, current.as_ref());
        let rename = self.renames.get(&candidate.entity);
        let comparison = StructureCompared::of(finding.found, candidate, current.as_ref());
        Facts {
            level: finding.resolution.level,
            completeness: finding.completeness,
            bodies_stubbed: count(comparison.bodies_stubbed),
            definitions_repeated: count(repeated(finding, candidate)),
            figures: comparison.figures,
            base: comparison.base,
            confirmed: self.confirmed_figures(candidate, current.as_ref()),
            symbols_missing: count(missing),
            symbols_of_base: count(definitions),
            comparison: self.compared(finding, candidate, current.as_ref()),
            name: match rename {
                None => NameVerdict::Kept,
                Some(it) if it.known.path == candidate.entity.path => {
                    NameVerdict::Suspected(it.percent)
                }
                Some(it) => NameVerdict::Elsewhere(it.percent),
            },
            removal: self.removal(candidate),
            base_verdict: self.base_verdict(finding, candidate),
            disk: self.disk_verdict(candidate),
        }
    }

    /// The structure of the last version that the user supplied or confirmed, if the model changed it since, and the
    /// candidate takes away more without being asked to.
    fn confirmed_figures(
        &self,
        candidate: &Candidate,
        current: Option<&Current>,
    ) -> Option<Figures> {
        let current = current.filter(|current| current.origin == Origin::Model)?;
        let takes_away = candidate.figures.tokens < current.figures.tokens
            || candidate.figures.nodes < current.figures.nodes;
        if candidate.entity.symbol.is_none() || !takes_away || asks_for_removal(self.judging.asked)
        {
            return None;
        }
        let former = self.view.former_versions(&candidate.entity);
        let confirmed = former
            .iter()
            .rfind(|former| former.origin == Origin::User)?;
        let code = String::from_utf8(self.view.content(confirmed.artifact)?).ok()?;
        let extraction = self.extraction(&candidate.entity.path, &code)?;
        let definitions = extraction.definitions.iter();
        let own = definitions.filter(|definition| confirmed.spans.contains(&definition.span));
        Some(resolve::total(own.map(|definition| definition.figures)))
    }

    /// What the candidate takes out of what is true: of a definition its code, of a file its imports.
    fn compared(
        &self,
        finding: &Finding<'_>,
        candidate: &Candidate,
        current: Option<&Current>,
    ) -> Comparison {
        let (Some(current), Ok(extraction)) = (current, &finding.found.extraction) else {
            return Comparison::UNHARMED;
        };
        let mut comparison = if candidate.entity.symbol.is_none() {
            self.compared_imports(finding.found, extraction, candidate, current)
        } else if current.spans.len() == candidate.spans.len() {
            // Of several definitions each by itself: it may be a small part of all.
            let pairs = current.spans.iter().zip(&candidate.spans);
            let compared = pairs.map(|(old, new)| {
                let (old, new) = (core::slice::from_ref(old), core::slice::from_ref(new));
                self.compared_code(finding.found, extraction, candidate, (current, old), new)
            });
            compared
                .min_by_key(worst_first)
                .unwrap_or(Comparison::UNHARMED)
        } else {
            let (old, new) = (&current.spans, &candidate.spans);
            self.compared_code(finding.found, extraction, candidate, (current, old), new)
        };
        if comparison.damage.is_some_and(Damage::is_removal) && asks_for_removal(self.judging.asked)
        {
            comparison.damage = None;
        }
        comparison
    }

    fn compared_code(
        &self,
        found: &FoundCode,
        extraction: &Extraction,
        candidate: &Candidate,
        (current, old): (&Current, &[Span]),
        new: &[Span],
    ) -> Comparison {
        let Some(before) = self.text(current.artifact, old) else {
            return Comparison::UNHARMED;
        };
        let known = self.extraction(&candidate.entity.path, &before);
        let after = slice::joined(found.code.as_bytes(), new);
        let after = String::from_utf8_lossy(&after);
        let content = known.as_ref().and_then(|known| known.definitions.first());
        let content = content.map_or(Content::Statements, |definition| {
            let head = definition.head.of(before.as_bytes());
            Content::of_head(&String::from_utf8_lossy(head))
        });
        let all = Span {
            start: 0,
            end: u32::try_from(before.len()).unwrap_or(u32::MAX),
        };
        let base = Code {
            text: &before,
            nested: &known
                .as_ref()
                .map_or_else(Vec::new, |known| definitions_within(known, &[all])),
            remarks: &known.map_or_else(Vec::new, |known| known.remarks),
        };
        let new = Code {
            text: &after,
            nested: &definitions_within(extraction, new),
            remarks: &slice::within_joined(&extraction.remarks, new),
        };
        damage::compare(content, base, new, self.judging.gained)
    }

    fn compared_imports(
        &self,
        found: &FoundCode,
        extraction: &Extraction,
        candidate: &Candidate,
        current: &Current,
    ) -> Comparison {
        let Some(before) = self.text(current.artifact, &current.spans) else {
            return Comparison::UNHARMED;
        };
        let known = self.extraction(&candidate.entity.path, &before);
        let imports = known.map_or_else(Vec::new, |known| known.imports);
        damage::compare_imports((&before, &imports), (&found.code, &extraction.imports))
    }

    fn text(&self, artifact: ArtifactHash, spans: &[Span]) -> Option<String> {
        String::from_utf8(self.view.slices(artifact, spans)?).ok()
    }

    fn extraction(&self, path: &RelPath, text: &str) -> Option<Extraction> {
        let grammars = self.judging.grammars;
        let language = grammars.language_of_path(path)?;
        grammars.extract(language, text.as_bytes()).ok()
    }

    /// What this very reply changed before doesn't count as having moved.
    fn base_verdict(&self, finding: &Finding<'_>, candidate: &Candidate) -> BaseVerdict {
        let edit = finding.found.edit.as_ref();
        if edit.is_some_and(|edit| edit.outcome.is_err()) {
            return BaseVerdict::Unmatched;
        }
        let (entity, episode) = (&candidate.entity, finding.episode);
        match (self.view.shown(episode, entity), self.view.current(entity)) {
            (Some(shown), Some(current))
                if current.version != shown && current.episode != episode =>
            {
                BaseVerdict::Moved
            }
            _ if self.unseen.contains(entity) => BaseVerdict::Unseen,
            _ => BaseVerdict::Unmoved,
        }
    }

    fn disk_verdict(&self, candidate: &Candidate) -> DiskVerdict {
        match self.judging.written {
            Written::OnDisk => DiskVerdict::Agrees,
            Written::NotYet => disk_verdict(self.view, &candidate.entity, candidate.slice),
        }
    }

    /// What the user removed a short while ago isn't brought back unless the user names it.
    fn removal(&self, candidate: &Candidate) -> RemovalVerdict {
        let entity = &candidate.entity;
        let is_asked_for = entity
            .symbol
            .as_ref()
            .is_none_or(|symbol| rename::names(self.judging.asked, symbol.last_component()));
        if self.view.is_tombstoned(entity) && !is_asked_for {
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

    /// How many definitions must still be there, and how many of them aren't. Of a whole file these are all of its
    /// symbols; of a fragment those nested in the definition that is replaced, those that the block would damage, and
    /// those out of whose text an edit makes something else. Several definitions of one symbol count each.
    fn definitions(
        &self,
        finding: &Finding<'_>,
        candidate: &Candidate,
        current: Option<&Current>,
    ) -> (usize, usize) {
        let path = &candidate.entity.path;
        let edit = finding.found.edit.as_ref();
        let edited = edit.and_then(|edit| edit.outcome.as_ref().ok());
        let is_edited = |symbol: &Symbol| {
            let current = self
                .view
                .current(&EntityId::symbol(path.clone(), symbol.clone()));
            edited.is_some_and(|applied| {
                applied.defined.contains(symbol)
                    || current.is_some_and(|current| applied.changed.contains(&current.version))
            })
        };
        let concerns = |symbol: &Symbol| {
            finding.resolution.extent == Extent::WholeFile
                || self.damaged.contains(symbol)
                || is_edited(symbol)
                || current.is_some_and(|current| self.is_within(path, symbol, current))
        };
        let symbols = self.tracked.iter().filter(|symbol| concerns(symbol));
        let (all, missing) = symbols.fold((0, 0), |(all, missing), symbol| {
            (
                all + 1,
                missing
                    + usize::from(
                        !self.in_block.contains(symbol) && !self.is_renamed(path, symbol),
                    ),
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

/// What a candidate is compared with: the whole of it, or the one of several definitions that shrank most.
struct StructureCompared {
    figures: Figures,
    base: Option<Figures>,
    bodies_stubbed: usize,
}

impl StructureCompared {
    fn of(found: &FoundCode, candidate: &Candidate, current: Option<&Current>) -> Self {
        let symbol = candidate.entity.symbol.as_ref();
        let known = symbol.and_then(|symbol| found.known.get(symbol));
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
        let pairs = known.paired(found.code.as_bytes(), &candidate.definitions);
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
fn repeated(finding: &Finding<'_>, candidate: &Candidate) -> usize {
    let again = namesakes::repeated(finding.found.code.as_bytes(), &candidate.definitions);
    let is_whole = finding.resolution.extent == Extent::WholeFile || finding.found.edit.is_some();
    let symbol = candidate.entity.symbol.as_ref();
    let known = symbol.and_then(|symbol| finding.found.known.get(symbol));
    match known {
        Some(known) if is_whole => {
            again.saturating_sub(namesakes::repeated(&known.text, &known.namesakes))
        }
        _ => again,
    }
}

fn correlated(percent: u8, thresholds: Thresholds) -> Verdict {
    Verdict {
        rule: Reason::CorrelatedWithOneFile,
        met: true,
        seen: percent.into(),
        needed: thresholds.correlation_percent.into(),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What a block would replace and the model hasn't seen (spec §12). An edit that applies quotes what it replaces. A file is
/// seen with the definitions of it that the block changes, since it repeats all others.
fn unseen(judging: Judging<'_>, found: &FoundCode, changed: &[&Candidate]) -> BTreeSet<EntityId> {
    let Judging { view, episode, .. } = judging;
    // Code of one of several definitions is applied like an edit, and quotes nothing.
    if found.edit.is_some() && found.format != Format::Fence {
        return BTreeSet::new();
    }
    let is_replaced = |entity: &&EntityId| {
        // What this very reply made before is its own.
        let is_own =
            |current: &Current| (current.origin, current.episode) == (Origin::Model, episode);
        view.current(entity)
            .is_some_and(|current| !is_own(&current))
            && view.shown(episode, entity).is_none()
    };
    let is_known_by_parts =
        |entity: &&EntityId| entity.symbol.is_none() && !view.symbols_of(&entity.path).is_empty();
    let entities = changed.iter().map(|candidate| &candidate.entity);
    let (files, others): (Vec<_>, Vec<_>) =
        entities.filter(is_replaced).partition(is_known_by_parts);
    if others.is_empty() {
        return BTreeSet::new();
    }
    let mut unseen: BTreeSet<EntityId> = others.iter().copied().cloned().collect();
    let others: Vec<EntityId> = unseen.iter().cloned().collect();
    for seen in (judging.seen)(&others) {
        unseen.remove(&seen);
    }
    if !unseen.is_empty() {
        unseen.extend(files.into_iter().cloned());
    }
    unseen
}

/// Whether a proposal's base is still what it was when it was judged. What was judged as a whole file is complete only
/// as long as nothing else became true of that file.
pub(super) fn base_since(view: &dyn View, proposal: &Proposal) -> BaseVerdict {
    let entity = &proposal.entity;
    let is_later = |entity: &EntityId| {
        view.current(entity)
            .is_some_and(|current| current.episode > proposal.episode)
    };
    let path = &entity.path;
    let symbols = view.symbols_of(path).into_iter();
    let mut others = symbols.map(|symbol| EntityId::symbol(path.clone(), symbol));
    if is_later(entity) || entity.symbol.is_none() && others.any(|other| is_later(&other)) {
        BaseVerdict::Moved
    } else {
        BaseVerdict::Unmoved
    }
}

/// What disk says of an entity that is to become this slice. A part of a file takes the file's place as a whole (see
/// [`promote::supersede_older_whole`]), so that nothing becomes part of a file that is STALE as a whole: of what else
/// changed there nobody has heard yet.
pub(super) fn disk_verdict(view: &dyn View, entity: &EntityId, slice: SliceHash) -> DiskVerdict {
    match (view.divergence(entity), view.disk(&entity.path)) {
        (Some(Divergence::Unreadable), _) | (None, Some(DiskFinding::Unreadable(_))) => {
            DiskVerdict::Unreadable
        }
        (Some(_), _) => DiskVerdict::Stale,
        (None, _) if stale_file(view, entity).is_some() => DiskVerdict::Stale,
        (None, Some(DiskFinding::File(_))) if view.current(entity).is_none() => {
            match observe::slice_on_disk(view, entity) {
                Some(on_disk) if on_disk != slice => DiskVerdict::Unacknowledged,
                _ => DiskVerdict::Agrees,
            }
        }
        (None, _) => DiskVerdict::Agrees,
    }
}

/// The file as a whole, if that is STALE and this part of it isn't.
pub(super) fn stale_file(view: &dyn View, part: &EntityId) -> Option<EntityId> {
    let file = EntityId::file(part.path.clone());
    let is_stale = part.symbol.is_some()
        && view.divergence(part).is_none()
        && view.divergence(&file).is_some();
    is_stale.then_some(file)
}
