//! The naive model: all decisions in order, and what must follow from them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    ContentKind, DiskFinding, Event, PromptSent, Recorded, ReplyEnded, ReplyOutcome, Transitioned,
    Verb,
};
use tslp_core::hash::SliceHash;
use tslp_core::ids::{EpisodeId, Seq, VersionId};
use tslp_core::path::RelPath;
use tslp_io::sent_prompts;
use tslp_projections::STALE;
use tslp_projections::state::{State, StateView};
use tslp_projections::store::EmptyStore;
use tslp_projections::table::Value;

use super::process::StartFindings;
use super::speech::{self, ModelReply};
use crate::disk::Disk;
use crate::random::code::{Function, NAMES};
use crate::random::invariants::Law;
use crate::replay_check::{self, rows};

/// Events of one transaction, and the workspace as it was when they were decided.
struct CommittedBatch {
    recorded: Vec<Recorded>,
    disk: Rc<Disk>,
}

impl CommittedBatch {
    fn last_seq(&self) -> Seq {
        self.recorded.last().map_or(Seq(0), |recorded| recorded.seq)
    }
}

/// All decisions, and what the witness derives from them.
#[derive(Default)]
pub(super) struct Witness {
    batches: Vec<CommittedBatch>,
    law: Law,
    /// What went to the model, in order.
    sent: Vec<(EpisodeId, PromptSent)>,
    stale: Divergences,
    /// The last position of the batch with each episode's prompt.
    prompt_positions: BTreeMap<EpisodeId, Seq>,
    /// Episodes whose reply hasn't ended, with the number of attempts.
    open_replies: BTreeMap<EpisodeId, u32>,
    /// The position at which each true version was promoted.
    true_since: BTreeMap<EntityId, Seq>,
    /// The highest position that the writer announced as durable.
    announced: Seq,
}

impl Witness {
    /// Adds a batch that was decided on this workspace.
    ///
    /// # Panics
    /// When it breaks the law.
    pub(super) fn add_batch(&mut self, recorded: Vec<Recorded>, disk: &Rc<Disk>) {
        if recorded.is_empty() {
            return;
        }
        let batch = CommittedBatch {
            recorded,
            disk: Rc::clone(disk),
        };
        self.follow_batch(&batch);
        self.batches.push(batch);
    }

    fn follow_batch(&mut self, batch: &CommittedBatch) {
        check_history(&batch.recorded);
        let repeated = is_repeat(&batch.recorded).then(|| self.truths());
        self.law.follow_events(&batch.recorded, &batch.disk);
        for recorded in &batch.recorded {
            self.stale.follow_event(recorded);
            match &recorded.event {
                Event::PromptSent(sent) => self.sent.push((recorded.episode, sent.clone())),
                Event::PromptReceived(_) => {
                    self.prompt_positions
                        .insert(recorded.episode, batch.last_seq());
                }
                Event::PromptComposed(_) => {
                    self.prompt_positions
                        .insert(recorded.episode, batch.last_seq());
                    *self.open_replies.entry(recorded.episode).or_default() += 1;
                }
                Event::ReplyEnded(ended) => self.end_attempt(recorded.episode, ended),
                event @ (Event::Transitioned(_) | Event::VersionsPromoted(_)) => {
                    let promoted = event.transitions();
                    let promoted = promoted.filter(|it| it.transition == Transition::Promote);
                    let entities = promoted.map(|it| it.into_owned().entity);
                    self.true_since
                        .extend(entities.map(|entity| (entity, recorded.seq)));
                }
                _ => {}
            }
        }
        self.check_repeat(&repeated.unwrap_or_default());
    }

    fn truths(&self) -> Vec<(EntityId, SliceHash)> {
        let truths = self.law.truths();
        truths
            .map(|(entity, truth)| (entity.clone(), truth))
            .collect()
    }

    /// A repeated message doesn't change what is true and on disk.
    fn check_repeat(&self, before: &[(EntityId, SliceHash)]) {
        for (entity, truth) in before {
            if self.stale.seen_on_disk(entity) == Some(Some(*truth)) {
                assert_eq!(
                    self.true_slice(entity),
                    Some(*truth),
                    "a repeated message replaced {entity}, which is on disk"
                );
            }
        }
    }

    fn end_attempt(&mut self, episode: EpisodeId, ended: &ReplyEnded) {
        let attempts = self.open_replies.get_mut(&episode);
        let attempts = attempts.unwrap_or_else(|| panic!("{episode} ends too often"));
        *attempts -= 1;
        if *attempts == 0 || ended.outcome == ReplyOutcome::Interrupted {
            self.open_replies.remove(&episode);
        }
    }

    /// The body of the request that went to the model, from the ledger.
    ///
    /// # Panics
    /// When it can't be put together.
    pub(super) fn request_sent(&self, episode: EpisodeId) -> Vec<u8> {
        let mut look_up = |artifact| Ok(self.law.bytes(artifact).map(<[u8]>::to_vec));
        let of = |before: &[(EpisodeId, PromptSent)], episode| {
            before.iter().rposition(|(of, _)| *of == episode)
        };
        let next = |at: &usize| of(&self.sent[..*at], self.sent[*at].1.base?.episode);
        let chain = std::iter::successors(of(&self.sent, episode), next);
        let chain: Vec<&PromptSent> = chain.map(|at| &self.sent[at].1).collect();
        sent_prompts::put_together(episode, &chain, &mut look_up)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Compares with the state that the engine has folded.
    ///
    /// # Panics
    /// When they differ.
    pub(super) fn compare_state(&self, state: &State) {
        let view = StateView {
            state,
            store: &EmptyStore,
            is_of_draft: false,
        };
        self.law.compare_state(state, &view);
        self.stale.compare_stale(&self.law, state);
        for (entity, slice) in self.law.truths() {
            if let Some(symbol) = &entity.symbol {
                assert!(
                    speech::is_whole_definition(symbol.as_str(), slice)
                        || is_collapsed(symbol.as_str(), slice),
                    "{entity} is true as something that nobody wrote whole"
                );
            }
        }
    }

    /// Checks an episode's prompt against the text that went to the model.
    ///
    /// # Panics
    /// When it shows code that isn't true.
    pub(super) fn check_prompt(
        &self,
        state: &State,
        episode: EpisodeId,
        text: &str,
        announced: Seq,
    ) {
        let mut newest_first = self.batches.iter().rev().flat_map(|batch| {
            let events = batch.recorded.iter();
            events.map(move |recorded| (batch, recorded))
        });
        let found = newest_first.find_map(|(batch, recorded)| match &recorded.event {
            Event::PromptComposed(composed) if recorded.episode == episode => {
                Some((batch, composed))
            }
            _ => None,
        });
        let (batch, composed) = found.unwrap_or_else(|| panic!("{episode} isn't on record"));
        let view = StateView {
            state,
            store: &EmptyStore,
            is_of_draft: false,
        };
        let added = self
            .law
            .text_added(&batch.recorded, episode, composed, text);
        self.law.check_prompt(&view, &batch.disk, composed, &added);
        let first = batch
            .recorded
            .first()
            .map_or(Seq(0), |recorded| recorded.seq);
        for hydrated in &composed.hydrated {
            let since = self.true_since.get(&hydrated.entity).copied();
            assert!(
                since.is_some_and(|since| since >= first || since <= announced),
                "{} was shown to the model before its transition was durable",
                hydrated.entity
            );
        }
    }

    /// The reply that ended in the newest batch, if one did.
    #[must_use]
    pub(super) fn reply_ended(&self) -> Option<(EpisodeId, &ReplyEnded, String)> {
        let batch = self.batches.last()?;
        let (episode, ended) =
            batch
                .recorded
                .iter()
                .find_map(|recorded| match &recorded.event {
                    Event::ReplyEnded(ended) => Some((recorded.episode, ended)),
                    _ => None,
                })?;
        let mut text = Vec::new();
        for segment in &ended.segments {
            text.extend_from_slice(self.law.bytes(*segment).unwrap_or_default());
        }
        Some((episode, ended, String::from_utf8_lossy(&text).into_owned()))
    }

    /// Checks the verdict on a reply of a known kind, given what was true before, whether it must become true, and whether the user's words
    /// name the file's first function, so that it may go; returns its name for the counters.
    ///
    /// # Panics
    /// When code became true that must not, or didn't although it must.
    pub(super) fn check_verdict(
        &self,
        speech: &ModelReply,
        before: &[Function],
        (expect_promotion, is_asked): (bool, bool),
    ) -> &'static str {
        let Some((episode, ended, _)) = self.reply_ended() else {
            return "";
        };
        let promoted = self.model_promotions(episode);
        let details = || format!("{speech:?}\n{promoted:?}");
        if ended.outcome != ReplyOutcome::Completed || speech.is_never_true() {
            assert!(
                promoted.is_empty(),
                "damaged code became true: {}",
                details()
            );
        }
        if before == speech.base {
            assert!(
                promoted.is_empty() || !speech.is_damage_to(before, is_asked),
                "a damaging reply became true: {}",
                details()
            );
            // Code that is all of a file can become the file's own text, too.
            let is_changed = promoted.iter().any(|moved| moved.entity.symbol.is_some());
            assert!(
                !is_changed || speech.kind != speech::ReplyKind::Echo,
                "what is true already became true: {}",
                details()
            );
        }
        if expect_promotion && ended.outcome == ReplyOutcome::Completed {
            let entity = speech.function.entity_in(speech.path);
            let now = self.true_slice(&entity);
            assert_eq!(
                now,
                Some(speech.function.slice_hash()),
                "a faithful reply didn't become true: {}",
                details()
            );
        }
        match (ended.outcome, promoted.is_empty()) {
            (ReplyOutcome::Completed, false) => "replies that became true",
            (ReplyOutcome::Completed, true) => "replies that changed nothing",
            _ => "broken replies",
        }
    }

    fn model_promotions(&self, episode: EpisodeId) -> Vec<&Transitioned> {
        let newest = self.batches.last().map_or(&[][..], |batch| &batch.recorded);
        newest
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::Transitioned(moved)
                    if moved.transition == Transition::Promote
                        && moved.origin == Origin::Model
                        && recorded.episode == episode =>
                {
                    Some(moved)
                }
                _ => None,
            })
            .collect()
    }

    /// Whether a look ever found a file there: then it is gone, which the user has to settle, and not yet to be made.
    pub(super) fn saw_file(&self, path: &RelPath) -> bool {
        self.stale.files_seen.contains(path)
    }

    /// The hash of an entity's true version.
    #[must_use]
    pub(super) fn true_slice(&self, entity: &EntityId) -> Option<SliceHash> {
        let mut truths = self.law.truths();
        truths
            .find(|(known, _)| *known == entity)
            .map(|(_, slice)| slice)
    }

    /// The position at which an entity's true version was promoted.
    #[must_use]
    pub(super) fn true_since(&self, entity: &EntityId) -> Option<Seq> {
        self.true_since.get(entity).copied()
    }

    /// The functions of the vocabulary that are true in a file.
    #[must_use]
    pub(super) fn functions_in(&self, path: &str) -> Vec<Function> {
        let truths: BTreeMap<&EntityId, SliceHash> = self.law.truths().collect();
        NAMES
            .iter()
            .filter_map(|name| {
                let entity = Function { name, variant: 0 }.entity_in(path);
                let slice = *truths.get(&entity)?;
                Function::with_slice(name, slice)
            })
            .collect()
    }

    /// The position that must be durable before a byte of this episode's reply may be seen.
    #[must_use]
    pub(super) fn prompt_of(&self, episode: EpisodeId) -> Option<Seq> {
        self.prompt_positions.get(&episode).copied()
    }

    /// The writer announced everything up to here as durable.
    pub(super) fn commit_announced(&mut self, seq: Seq) {
        self.announced = self.announced.max(seq);
    }

    /// The last position that was announced as durable.
    #[must_use]
    pub(super) const fn announced_position(&self) -> Seq {
        self.announced
    }

    /// The last position that was decided.
    #[must_use]
    pub(super) fn head(&self) -> Seq {
        self.batches.last().map_or(Seq(0), CommittedBatch::last_seq)
    }

    /// The events up to a position, folded.
    #[must_use]
    pub(super) fn folded_until(&self, head: Seq) -> State {
        let all = self.batches.iter().flat_map(|batch| &batch.recorded);
        replay_check::folded(all.take_while(|recorded| recorded.seq <= head))
    }

    /// Checks what a new process found in the ledger. Returns the number of events that are lost and were never announced.
    ///
    /// # Panics
    /// When an announced event is lost, or the ledger holds something else.
    pub(super) fn check_restart(&mut self, started: &StartFindings) -> u64 {
        let head = self.head();
        assert!(
            started.head >= self.announced,
            "events up to {} were acknowledged, and the ledger ends at {}",
            self.announced,
            started.head
        );
        assert!(
            started.head == Seq(0)
                || self
                    .batches
                    .iter()
                    .any(|batch| batch.last_seq() == started.head),
            "the ledger ends at {}, in the middle of a transaction",
            started.head
        );
        self.batches
            .retain(|batch| batch.last_seq() <= started.head);
        let folded = StartFindings::of_state(&self.folded_until(started.head));
        assert_eq!(
            folded.hashes, started.hashes,
            "after a restart the state isn't what was decided"
        );
        let batches = std::mem::take(&mut self.batches);
        *self = Self {
            announced: started.head,
            ..Self::default()
        };
        for batch in &batches {
            self.follow_batch(batch);
        }
        self.batches = batches;
        head.0 - started.head.0
    }

    /// A new process has begun: it has recorded an end of each reply that was under way.
    ///
    /// # Panics
    /// When one isn't.
    pub(super) fn check_interrupted(&self) {
        assert!(
            self.open_replies.is_empty(),
            "still in flight after a restart: {:?}",
            self.open_replies
        );
    }

    /// Whether a message with this text is recorded.
    #[must_use]
    pub(super) fn has_message_with(&self, text: &str) -> bool {
        let mut all = self.batches.iter().flat_map(|batch| &batch.recorded);
        all.any(|recorded| match &recorded.event {
            Event::Content(content) => String::from_utf8_lossy(&content.bytes).contains(text),
            _ => false,
        })
    }

    /// The number of replies under way.
    #[must_use]
    pub(super) fn open_replies(&self) -> usize {
        self.open_replies.len()
    }
}

/// A prompt names only those older messages that are new to the ledger.
fn check_history(recorded: &[Recorded]) {
    let mut stored = BTreeSet::new();
    for recorded in recorded {
        match &recorded.event {
            Event::Content(content) => {
                stored.insert(content.hash);
            }
            Event::PromptReceived(received) => {
                for message in received.messages.older() {
                    assert!(
                        stored.contains(&message.content),
                        "{} names a message again that the ledger has",
                        recorded.episode
                    );
                }
            }
            _ => {}
        }
    }
}

/// Whether the batch is a prompt that repeats a conversation's first message, and confirms no proposal.
fn is_repeat(recorded: &[Recorded]) -> bool {
    let mut is_first = false;
    for recorded in recorded {
        match &recorded.event {
            Event::Content(content) if content.kind == ContentKind::Message => return false,
            Event::PromptReceived(prompt) => is_first = prompt.length == 1,
            Event::DirectiveGiven(given) if given.verb == Verb::Confirm => return false,
            _ => {}
        }
    }
    is_first
}

fn is_collapsed(name: &str, slice: SliceHash) -> bool {
    let found = NAMES.into_iter().find(|known| *known == name);
    found.is_some_and(|name| {
        let text = Function { name, variant: 0 }.collapsed_text();
        tslp_core::slice::hash_of_slice(text.as_bytes()) == slice
    })
}

/// The STALE set, derived from recorded looks and decisions as the law defines it.
#[derive(Default)]
struct Divergences {
    looks: BTreeMap<RelPath, DiskFinding>,
    /// Paths at which a look found a file.
    files_seen: BTreeSet<RelPath>,
    /// The slice on disk when the entity's version became true, until disk holds that version.
    decided_over: BTreeMap<EntityId, Option<SliceHash>>,
    slices: BTreeMap<VersionId, SliceHash>,
    true_slices: BTreeMap<EntityId, SliceHash>,
}

impl Divergences {
    fn follow_event(&mut self, recorded: &Recorded) {
        match &recorded.event {
            Event::DiskObserved(observed) => {
                self.looks
                    .insert(observed.path.clone(), observed.finding.clone());
                if matches!(observed.finding, DiskFinding::File(_)) {
                    self.files_seen.insert(observed.path.clone());
                }
                let saved = self.true_slices.iter();
                let saved = saved.filter(|(entity, slice)| {
                    entity.path == observed.path && self.seen_on_disk(entity) == Some(Some(**slice))
                });
                let saved: Vec<EntityId> = saved.map(|(entity, _)| entity.clone()).collect();
                for entity in saved {
                    self.decided_over.remove(&entity);
                }
            }
            Event::ArtifactResolved(resolved) => {
                let versions = resolved.versions.iter();
                self.slices
                    .extend(versions.map(|version| (version.id, version.slice)));
            }
            event @ (Event::Transitioned(_) | Event::VersionsPromoted(_)) => {
                event.transitions().for_each(|moved| self.take_move(&moved));
            }
            _ => {}
        }
    }

    fn take_move(&mut self, moved: &Transitioned) {
        match moved.transition {
            Transition::Promote => {
                let slice = self.slices[&moved.version];
                self.true_slices.insert(moved.entity.clone(), slice);
                self.decided_over.remove(&moved.entity);
                let seen = self.seen_on_disk(&moved.entity);
                if let Some(seen) = seen.filter(|seen| *seen != Some(slice)) {
                    self.decided_over.insert(moved.entity.clone(), seen);
                }
            }
            Transition::Remove => {
                self.true_slices.remove(&moved.entity);
                self.decided_over.remove(&moved.entity);
            }
            _ => {}
        }
    }

    /// The slice of an entity at the last look: `None` if it didn't look for it, or there never was a file.
    fn seen_on_disk(&self, entity: &EntityId) -> Option<Option<SliceHash>> {
        let file = match self.looks.get(&entity.path)? {
            DiskFinding::File(file) => file,
            // That a file is gone is known of one that was there.
            DiskFinding::Missing => return self.files_seen.contains(&entity.path).then_some(None),
            DiskFinding::Unreadable(_) => return None,
        };
        match &entity.symbol {
            Some(symbol) if file.grammar.is_some() => file
                .slices
                .iter()
                .find(|found| found.symbol == *symbol)
                .map(|found| found.slice),
            _ => Some(Some(file.whole)),
        }
    }

    fn compare_stale(&self, law: &Law, state: &State) {
        let mut withheld = BTreeSet::new();
        for (entity, truth) in law.truths() {
            let is_stale = match self.looks.get(&entity.path) {
                None | Some(DiskFinding::Missing) => false,
                Some(DiskFinding::Unreadable(_)) => true,
                Some(DiskFinding::File(_)) => self.seen_on_disk(entity).is_some_and(|seen| {
                    seen != Some(truth) && self.decided_over.get(entity) != Some(&seen)
                }),
            };
            if is_stale {
                let symbol = entity.symbol.as_ref().map_or("", |symbol| symbol.as_str());
                withheld.insert((entity.path.as_str().to_owned(), symbol.to_owned()));
            }
        }
        let explained = ["acknowledged", "not_saved", "missing"].map(Value::from);
        let folded: BTreeSet<(String, String)> = rows(state, STALE)
            .into_iter()
            .filter(|row| !explained.contains(&row[2]))
            .map(|row| (cell_text(&row[0]), cell_text(&row[1])))
            .collect();
        assert_eq!(withheld, folded, "the STALE set");
    }
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}
