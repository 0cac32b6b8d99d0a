//! What happened, folded once from events: steps, each a prompt with its reply, and the turns that they make up (spec §14.3). No
//! decision needs it and it is most of what a step's events say, so no table holds it: it is folded when somebody asks.
//!
//! Its printers: a line a reply ([`super::replies`]), `tslp recent` and `/recent`, a turn on the page, a file's story (`tslp why`), and
//! what became of the model's changes ([`Outcome`]: `tslp status`, `tslp run`, a client's status line).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tslp_core::artifact::{Level, Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ArtifactResolved, Event, EventKind, LostCallFound, PromptMeasured, Recorded, ReplyOutcome,
    WindowExceeded,
};
use tslp_core::gate::{self, Completeness, GateReport};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, VersionId};
use tslp_core::message::Role;
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::words;
use tslp_store::ledger::{LedgerError, LedgerReader};

use super::describe::reason_words;
use super::missing::{self, MissingCode, Place};

/// Most entries kept of one step where not the whole is asked for; the rest is in the ledger.
const ENTRIES_PER_STEP: usize = 64;

/// Kinds of events of which no entry is made: nearly all bytes of a ledger are theirs.
const LEFT_OUT: &[EventKind] = &[
    EventKind::Content,
    EventKind::PromptSent,
    EventKind::ReplySegment,
    EventKind::ReplyPart,
];

words! {
    /// What an entry tells.
    Told, "entry of a story" {
        /// A version became true.
        True = "true",
        /// Another version took its place.
        Replaced = "replaced",
        /// A version that was proposed was dropped.
        Dropped = "dropped",
        /// What was true is removed.
        Removed = "removed",
        /// A version was refused.
        Refused = "refused",
        /// Nothing here can judge the change.
        Unjudged = "unjudged",
        /// A draft of the reply was refused, and asked for once more.
        AskedAgain = "asked again",
        /// The second draft was no better.
        NoBetter = "no better",
        /// The code belongs to nothing that is known.
        Unlinked = "unlinked",
        /// The code resembles one known entity.
        Resembling = "resembling",
        /// The prompt shows its true code.
        Shown = "shown",
        /// The prompt doesn't show it.
        LeftOut = "left out",
        /// It was taken out of older messages.
        TakenOut = "taken out",
        /// A directive is answered.
        Answered = "answered",
        /// The model is told of it.
        Noticed = "noticed",
    }
}

impl Told {
    /// The state that it led to, or the list that it is in on `/recent`.
    #[must_use]
    pub const fn state(self) -> &'static str {
        match self {
            Self::True => Transition::Promote.to().as_str(),
            Self::Replaced => Transition::Supersede.to().as_str(),
            Self::Dropped | Self::Removed => Transition::Remove.to().as_str(),
            Self::Refused => Transition::Promote.from().as_str(),
            Self::Unjudged => "UNJUDGED",
            Self::Unlinked => Level::Unresolved.as_str(),
            Self::Resembling => Level::Inferred.as_str(),
            Self::AskedAgain | Self::NoBetter => self.as_str(),
            Self::Shown => "hydrated",
            Self::LeftOut | Self::TakenOut => "withheld",
            Self::Answered | Self::Noticed => "notice",
        }
    }

    /// Whether a version of it was judged.
    #[must_use]
    pub const fn is_judged(self) -> bool {
        matches!(
            self,
            Self::True | Self::Dropped | Self::Removed | Self::Refused | Self::Unjudged
        )
    }

    /// For people, in front of names.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::True => "true now",
            Self::Dropped => "proposal dropped",
            Self::AskedAgain => "refused before you had it, and asked for once more",
            Self::NoBetter => "no better when asked for once more",
            Self::Unlinked | Self::Resembling => "not linked to what is known",
            Self::Shown => "shown to the model",
            Self::LeftOut => "not shown to the model",
            Self::TakenOut => "taken out of older messages",
            Self::Answered => "your directive",
            Self::Noticed => "the model is told of",
            Self::Replaced | Self::Removed | Self::Refused | Self::Unjudged => self.as_str(),
        }
    }
}

/// One thing that happened to an entity in a step, or was said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub seq: Seq,
    /// What it tells.
    pub told: Told,
    /// The entity concerned.
    pub entity: Option<EntityId>,
    /// The reason.
    pub reason: Reason,
    /// The version that it is about.
    pub version: Option<VersionId>,
    /// Who wrote the code.
    pub origin: Option<Origin>,
    /// What the gates said of the version.
    pub report: Option<GateReport>,
    /// Tokens of what is shown.
    pub tokens: u32,
    /// The code that a refused version lacks, once it was looked for.
    pub missing: Option<MissingCode>,
    /// The user's rule by which a file is kept back, once it was looked for.
    pub rule: Option<String>,
}

impl Entry {
    pub(crate) fn of(seq: Seq, told: Told, entity: Option<&EntityId>, reason: Reason) -> Self {
        Self {
            seq,
            told,
            entity: entity.cloned(),
            reason,
            version: None,
            origin: None,
            report: None,
            tokens: 0,
            missing: None,
            rule: None,
        }
    }

    /// In a sentence, with a reason in words or by its code.
    #[must_use]
    pub fn sentence(&self, reason: &str) -> String {
        let about = self.entity.as_ref().map(|entity| format!(": {entity}"));
        let author = self.origin.filter(|_| self.told == Told::True);
        let author = author.map(|author| match author {
            Origin::Unattributed => ", whose author isn't known".to_owned(),
            author => format!(", from the {author}"),
        });
        let (about, author) = (about.unwrap_or_default(), author.unwrap_or_default());
        format!("{}{about}{author} ({reason})", self.told.label())
    }

    /// Whether it is a file's refusal for what is told of a part of it already.
    fn goes_along_with(&self, told: &Self) -> bool {
        let path = |it: &Self| it.entity.as_ref().map(|entity| entity.path.clone());
        let stays_out = matches!(self.told, Told::Refused | Told::Unjudged);
        let is_file = self.entity.as_ref().is_some_and(|it| it.symbol.is_none());
        let failed = self
            .report
            .as_ref()
            .is_none_or(GateReport::failed_by_itself);
        stays_out && is_file && !failed && told.told == self.told && path(told) == path(self)
    }
}

/// What happened in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// In the order of their events.
    pub entries: VecDeque<Entry>,
    /// The texts of its prompt's own messages that are a user's. An agent's step brings results of tools alone.
    pub prompt: Vec<ArtifactHash>,
    /// How its reply ended.
    pub outcome: Option<ReplyOutcome>,
    /// What the prompt cost.
    pub measured: Option<PromptMeasured>,
    /// Replies to it that were refused before the client had them.
    pub drafts: usize,
    /// Whether its prompt was too long for its model.
    pub exceeded: Option<WindowExceeded>,
    /// What became of calls that its reply wrote as text.
    pub lost_calls: Vec<LostCallFound>,
    /// Where the code of each version is that the model wrote in it, or that the user left out parts of.
    pub code: BTreeMap<VersionId, Place>,
}

impl Step {
    /// The lines that a refused version lacks, if it was refused for them.
    ///
    /// # Errors
    /// When the rows can't be read.
    pub fn lost_lines(
        &self,
        reader: &LedgerReader,
        episode: EpisodeId,
        entry: &Entry,
    ) -> Result<Option<MissingCode>, LedgerError> {
        let is_lost = entry.told == Told::Refused && entry.reason.is(ReasonClass::LostCode);
        let code = entry.version.filter(|_| is_lost);
        let code = code.and_then(|version| self.code.get(&version));
        match code.zip(entry.entity.as_ref()) {
            Some((place, entity)) => missing::lost_lines(reader, episode, entity, place),
            None => Ok(None),
        }
    }
}

/// What happened in steps.
#[derive(Default)]
pub struct Steps {
    /// Each step's.
    pub steps: BTreeMap<EpisodeId, Step>,
    /// The block that was captured last: its resolution comes next.
    captured: Option<CapturedBlock>,
    /// Whether all entries of a step are kept.
    is_whole: bool,
}

/// A captured block whose resolution comes next.
struct CapturedBlock {
    episode: EpisodeId,
    text: ArtifactHash,
    /// The file, if a usable path was named.
    file: Option<EntityId>,
    /// Who wrote it.
    origin: Origin,
    /// The reason why none of it becomes true, if the text alone shows it: such code of the user's is never judged.
    not_whole: Option<Reason>,
}

/// The entries of an event that needs no other one.
#[must_use]
pub fn entries_of(seq: Seq, event: &Event) -> Vec<Entry> {
    let entry = |told, entity: Option<&EntityId>, reason| Entry::of(seq, told, entity, reason);
    match event {
        Event::PromptComposed(composed) => {
            let shown = composed.hydrated.iter().map(|it| Entry {
                tokens: it.tokens,
                ..entry(Told::Shown, Some(&it.entity), it.reason)
            });
            let left_out = composed.dropped.iter();
            let left_out = left_out.map(|it| entry(Told::LeftOut, Some(&it.entity), it.reason));
            shown.chain(left_out).collect()
        }
        Event::PromptAmended(amended) => {
            let withheld = amended.withheld.iter();
            let reason = Reason::NoLongerCurrent;
            withheld
                .map(|it| entry(Told::TakenOut, Some(&it.entity), reason))
                .collect()
        }
        Event::Transitioned(_) | Event::VersionsPromoted(_) => {
            let report = match event {
                Event::Transitioned(moved) => &moved.report,
                Event::VersionsPromoted(promoted) => &promoted.report,
                _ => &None,
            };
            let moves = event.transitions().map(|moved| Entry {
                version: Some(moved.version),
                origin: Some(moved.origin),
                report: report.clone(),
                ..entry(
                    match moved.transition {
                        Transition::Promote => Told::True,
                        Transition::Supersede => Told::Replaced,
                        Transition::Discard => Told::Dropped,
                        Transition::Remove => Told::Removed,
                    },
                    Some(&moved.entity),
                    moved.cause,
                )
            });
            moves.collect()
        }
        Event::PromotionRefused(refused) => {
            let reason = refused.report.conclusion.unwrap_or(Reason::GrantMissing);
            let told = match reason.is(ReasonClass::Unjudged) {
                true => Told::Unjudged,
                false => Told::Refused,
            };
            Vec::from([Entry {
                version: Some(refused.version),
                report: Some(refused.report.clone()),
                ..entry(told, Some(&refused.entity), reason)
            }])
        }
        Event::DraftRefused(draft) => {
            let told = match draft.told {
                Some(_) => Told::AskedAgain,
                None => Told::NoBetter,
            };
            let faults = draft.refused.iter();
            faults
                .map(|it| entry(told, Some(&it.entity), it.reason))
                .collect()
        }
        Event::NoticeIssued(notice) => {
            let told = match notice.reason.is(ReasonClass::Answer) {
                true => Told::Answered,
                false => Told::Noticed,
            };
            Vec::from([entry(told, notice.entity.as_ref(), notice.reason)])
        }
        _ => Vec::new(),
    }
}

impl Steps {
    /// Of which all entries are kept.
    #[must_use]
    pub fn whole() -> Self {
        Self {
            is_whole: true,
            ..Self::default()
        }
    }

    /// Reads the steps' events from a position on.
    ///
    /// # Errors
    /// When the ledger can't be read; what came before is folded.
    pub fn read(&mut self, reader: &LedgerReader, from: Seq) -> Result<(), LedgerError> {
        reader.read_without(LEFT_OUT, from, &mut |stored, event| {
            self.apply(&stored.recorded(event));
        })
    }

    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let episode = recorded.episode;
        match &recorded.event {
            Event::PromptReceived(prompt) => {
                let messages = prompt.messages.current().iter();
                let own = messages.filter(|message| message.role == Role::User);
                self.step(episode).prompt = own.map(|message| message.content).collect();
            }
            Event::ReplyEnded(ended) => self.step(episode).outcome = Some(ended.outcome),
            Event::PromptMeasured(measured) => self.step(episode).measured = Some(measured.clone()),
            Event::WindowExceeded(exceeded) => self.step(episode).exceeded = Some(exceeded.clone()),
            Event::LostCallFound(found) => self.step(episode).lost_calls.push(found.clone()),
            Event::ArtifactCaptured(captured) => {
                self.captured = Some(CapturedBlock {
                    episode,
                    text: captured.artifact,
                    file: captured.path.clone().map(EntityId::file),
                    origin: captured.origin,
                    not_whole: match (captured.origin, captured.completeness) {
                        (Origin::User, Completeness::Elided) => Some(Reason::Elided),
                        (Origin::User, Completeness::Truncated) => Some(Reason::Truncated),
                        (Origin::User, Completeness::Full)
                        | (Origin::Model | Origin::Unattributed, _) => None,
                    },
                });
            }
            Event::ArtifactResolved(resolved) => self.resolve(recorded.seq, resolved),
            event => {
                self.step(episode).drafts += usize::from(matches!(event, Event::DraftRefused(_)));
                for entry in entries_of(recorded.seq, event) {
                    self.add(episode, entry);
                }
            }
        }
    }

    fn resolve(&mut self, seq: Seq, resolved: &ArtifactResolved) {
        let Some(captured) = self.captured.take() else {
            return;
        };
        let episode = captured.episode;
        let entry = |told, entity| Entry {
            origin: Some(captured.origin),
            ..Entry::of(seq, told, entity, resolved.reason)
        };
        let versions = resolved.versions.iter();
        if captured.origin == Origin::Model || captured.not_whole.is_some() {
            let code = versions.clone();
            let code = code.map(|it| (it.id, (captured.text, it.spans.clone())));
            self.step(episode).code.extend(code);
        }
        if resolved.level == Level::Confirmed {
            for version in versions.filter(|_| captured.not_whole.is_some()) {
                let reason = captured.not_whole.unwrap_or(resolved.reason);
                let refused = Entry {
                    reason,
                    version: Some(version.id),
                    ..entry(Told::Refused, Some(&version.entity))
                };
                self.add(episode, refused);
            }
            return;
        }
        // Clients send examples in their rules with every prompt; what the user should hear of, a notice says.
        let is_models = captured.origin != Origin::User;
        let file = captured.file.as_ref();
        let is_unjudged = is_models && file.is_some() && resolved.reason.is(ReasonClass::Unjudged);
        let told = match resolved.level {
            _ if is_unjudged => Told::Unjudged,
            Level::Inferred => Told::Resembling,
            Level::Unresolved | Level::Confirmed => Told::Unlinked,
        };
        if is_models || resolved.reason != Reason::NoDefinition {
            self.add(episode, entry(told, file));
        }
    }

    fn add(&mut self, episode: EpisodeId, entry: Entry) {
        let is_whole = self.is_whole;
        let entries = &mut self.step(episode).entries;
        if entries.iter().any(|told| entry.goes_along_with(told)) {
            return;
        }
        if entries.len() >= ENTRIES_PER_STEP && !is_whole {
            // The first entries of a step say most about it. What is outside of them has no end, so there the last ones are kept.
            if episode != EpisodeId::OUTSIDE {
                return;
            }
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    fn step(&mut self, episode: EpisodeId) -> &mut Step {
        self.steps.entry(episode).or_default()
    }
}

/// What became of the model's changes, newest first.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The entities that it has changed.
    pub changed: Vec<EntityId>,
    /// Those whose change was refused, and why, by a rule that they failed themselves.
    pub refused: Vec<(EntityId, Reason)>,
    /// Files that it changed and that nothing here reads.
    pub unjudged: BTreeSet<RelPath>,
}

impl Outcome {
    /// Of what happened since an event.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub fn since(reader: &LedgerReader, from: Seq) -> Result<Self, LedgerError> {
        let mut steps = Steps::whole();
        steps.read(reader, from)?;
        let entries = steps.steps.values().flat_map(|step| &step.entries);
        Ok(Self::of(entries.collect()))
    }

    fn of(mut entries: Vec<&Entry>) -> Self {
        let mut outcome = Self::default();
        let mut refused: Vec<(&EntityId, &Entry)> = Vec::new();
        // What became true or was removed, and the versions of which something became, after the entry that is looked at.
        let (mut settled, mut moved) = (BTreeSet::new(), BTreeSet::new());
        entries.sort_by_key(|entry| Reverse(entry.seq));
        for entry in entries {
            let Some(entity) = &entry.entity else {
                continue;
            };
            match entry.told {
                Told::True | Told::Removed | Told::Dropped | Told::Replaced => {
                    moved.extend(entry.version);
                    let settles = matches!(entry.told, Told::True | Told::Removed);
                    let is_last = settles && settled.insert(entity);
                    if is_last && entry.told == Told::True && entry.origin == Some(Origin::Model) {
                        outcome.changed.push(entity.clone());
                    }
                }
                Told::Refused if entry.report.as_ref().is_some_and(GateReport::refuses) => {
                    let is_known = refused.iter().any(|(known, _)| *known == entity);
                    let is_over = settled.contains(entity)
                        || entry.version.is_some_and(|it| moved.contains(&it));
                    if !is_known && !is_over {
                        refused.push((entity, entry));
                    }
                }
                Told::Unjudged if entry.origin == Some(Origin::Model) => {
                    outcome.unjudged.insert(entity.path.clone());
                }
                _ => {}
            }
        }
        // Where its parts are told, the file says nothing more.
        let parts = outcome.changed.iter().filter(|it| it.symbol.is_some());
        let parts: BTreeSet<RelPath> = parts.map(|it| it.path.clone()).collect();
        outcome
            .changed
            .retain(|it| it.symbol.is_some() || !parts.contains(&it.path));
        gate::tell_once(&mut refused, |(entity, entry)| {
            (entity, entry.report.as_ref())
        });
        let refused = refused.into_iter();
        outcome.refused = refused
            .map(|(entity, entry)| (entity.clone(), entry.reason))
            .collect();
        outcome
    }

    /// In words: what became of how much, then each refusal, with the way back where its file holds it.
    #[must_use]
    pub fn lines(&self, held: &BTreeSet<EntityId>, refusals_max: usize) -> Vec<String> {
        let counts = [
            (self.changed.len(), "true now"),
            (self.refused.len(), "refused"),
            (self.unjudged.len(), "unjudged"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let told = self.refused.iter().take(refusals_max);
        let told = told.map(|(entity, reason)| {
            let why = reason_words(*reason);
            let path = &entity.path;
            match held.contains(entity) {
                true => format!(
                    "{entity} was refused ({why}), and your file holds it: `tslp undo {path}` prints the way back, `tslp confirm \
                     {entity}` keeps it"
                ),
                false => format!("{entity} was refused ({why}): `tslp why {entity}` says more"),
            }
        });
        let all = (!counts.is_empty()).then(|| counts.join(", "));
        all.into_iter().chain(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use tslp_core::event::{Envelope, NoticeIssued};
    use tslp_core::ids::{Seq, SessionId, UnixMillis};
    use tslp_core::path::RelPath;

    use super::*;

    /// An episode keeps its first entries, and what happens outside it only its last.
    #[test]
    fn first_and_last_kept() {
        let notice = |episode, number: usize| {
            let path = format!("{number}.c");
            Recorded {
                envelope: Envelope {
                    episode,
                    ..Envelope::outside(Seq(1), UnixMillis(0))
                },
                event: Event::NoticeIssued(NoticeIssued {
                    episode,
                    session: SessionId(1),
                    reason: Reason::NoEntity,
                    entity: Some(EntityId::file(RelPath::from_normalised(&path))),
                    other: None,
                }),
            }
        };
        let mut steps = Steps::default();
        for number in 0..ENTRIES_PER_STEP + 2 {
            steps.apply(&notice(EpisodeId(7), number));
            steps.apply(&notice(EpisodeId::OUTSIDE, number));
        }
        let files = |episode| -> Vec<_> {
            let entries = steps.steps[&episode].entries.iter();
            let entity = entries.map(|entry| entry.entity.as_ref().unwrap().path.as_str());
            entity.collect()
        };
        for (episode, first, last) in [
            (EpisodeId(7), "0.c", "63.c"),
            (EpisodeId::OUTSIDE, "2.c", "65.c"),
        ] {
            let files = files(episode);
            assert_eq!(files.len(), ENTRIES_PER_STEP);
            assert_eq!((files[0], files[63]), (first, last));
        }
        assert!(!steps.steps.contains_key(&EpisodeId(8)));
    }
}
