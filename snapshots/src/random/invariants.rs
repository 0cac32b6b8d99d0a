//! The law's invariants, checked against a naive model that knows only the events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arbitrary::Unstructured;
use tslp_core::artifact::{ArtifactState, Origin, Transition};
use tslp_core::delimiter::{NOTICE_OPEN, RECENT_OPEN, STATE_CLOSE, STATE_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{
    DiskFinding, Event, History, PromptAmended, PromptComposed, Recorded, Transitioned,
};
use tslp_core::extract::Grammars as _;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::{CaptureId, EpisodeId, SessionId, VersionId};
use tslp_core::path::RelPath;
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::Reason;
use tslp_core::slice;
use tslp_grammars::TreeSitterGrammars;

use tslp_projections::TABLES;
use tslp_projections::anomalies::AnomalyRow;
use tslp_projections::state::State;
use tslp_projections::table::Value;

use super::events;
use crate::disk::{Disk, DiskEntry, extraction_of};
use crate::replay_check::{self, rows};
use crate::stage::{SentPrompt, Stage};
use crate::tables::{Tables, state_tables};
use tslp_projections::state::StateView;

/// The number that a row shows for ids beyond 63 bits.
const CLAMPED: Value = Value::Integer(i64::MAX);

/// Folds random events without sense.
///
/// # Panics
/// When a fold panics, or when its row changes differ from its rows.
pub fn check_nonsense_folds(data: &[u8]) {
    let Ok(ledger) = events::random_ledger(&mut Unstructured::new(data)) else {
        return;
    };
    let mut state = State::default();
    state.follow_changes(true);
    let mut tables = Tables::default();
    for recorded in &ledger {
        state.apply(recorded);
        tables.apply(state.take_changes());
    }
    for (index, table) in TABLES.iter().enumerate() {
        let rows = rows(&state, index);
        // Ids beyond 63 bits are clamped and so may collide in a row's key; no ledger reaches them.
        if !rows.iter().flatten().any(|value| *value == CLAMPED) {
            assert_eq!(rows, tables.rows(index), "{}", table.name);
        }
    }
    check_restored_midway(&ledger, &state);
}

/// A fold that is written as rows in the middle and restored from them ends in the same state.
fn check_restored_midway(ledger: &[Recorded], state: &State) {
    let all_rows = |state: &State| -> Vec<_> {
        state_tables()
            .map(|(table, _)| rows(state, table))
            .collect()
    };
    let is_clamped = |state: &State| {
        let tables = all_rows(state);
        tables
            .iter()
            .flatten()
            .flatten()
            .any(|value| *value == CLAMPED)
    };
    let (first, rest) = ledger.split_at(ledger.len() / 2);
    let mut other = replay_check::folded(first);
    if is_clamped(&other) {
        return;
    }
    other = replay_check::restored_from_rows(&other, ledger);
    for recorded in rest {
        other.apply(recorded);
    }
    assert_eq!(all_rows(&other), all_rows(state));
}

/// A naive model of the law, fed with a story's events.
#[derive(Default)]
pub struct Law {
    events_read: usize,
    versions: BTreeMap<VersionId, (EntityId, ArtifactState)>,
    slices: BTreeMap<VersionId, SliceHash>,
    authoritative: BTreeMap<EntityId, VersionId>,
    /// True versions whose replacement comes next.
    replaced: BTreeMap<EntityId, VersionId>,
    /// The slice on disk when an entity's version became true.
    acknowledged: BTreeMap<EntityId, Option<SliceHash>>,
    /// Paths at which a look found a file.
    files_seen: BTreeSet<RelPath>,
    vault: BTreeMap<ArtifactHash, Vec<u8>>,
    captured: BTreeMap<CaptureId, ArtifactHash>,
    /// The artifact of each version.
    sources: BTreeMap<VersionId, ArtifactHash>,
    /// Whole files that were promoted from the model's code since the last check.
    files_promoted: Vec<(EntityId, VersionId)>,
    /// The last request in `client` history, and the texts of its messages that went out.
    last_sent: Option<(Vec<Arc<ReadMessage>>, Vec<String>)>,
    grown_prompts: usize,
}

impl Law {
    /// Reads the events since the last call and compares with the stage.
    ///
    /// # Panics
    /// When the law is broken.
    pub fn check_step(&mut self, stage: &Stage) {
        let new = &stage.ledger()[self.events_read..];
        self.events_read = stage.ledger().len();
        self.follow_events(new, stage.disk());
        self.compare_state(stage.state(), &stage.view());
        for recorded in new {
            if let (Event::PromptComposed(composed), Some(sent)) =
                (&recorded.event, stage.last_sent())
                && recorded.episode == sent.episode
            {
                let all = sent.texts().join("\n");
                let text = self.text_added(new, sent.episode, composed, &all);
                self.check_prompt(&stage.view(), stage.disk(), composed, &text);
                check_scope(&stage.view(), recorded.session, composed, &all);
                // What is recognised of a file that is off goes out of older messages as well.
                let is_scope = |it: &Recorded| matches!(it.event, Event::ScopeChanged(_));
                let mut rules = stage.state().scope().rules();
                if new.iter().any(is_scope) || rules.next().is_some() {
                    self.last_sent = None;
                }
                self.check_growth(sent, composed.history, amended_in(new, sent.episode));
            }
        }
    }

    /// The text that the proxy added with this prompt; `sent` is all that went out.
    ///
    /// # Panics
    /// When the text on record didn't go out.
    #[must_use]
    pub fn text_added(
        &self,
        new: &[Recorded],
        episode: EpisodeId,
        composed: &PromptComposed,
        sent: &str,
    ) -> String {
        if composed.history == History::Window {
            return sent.to_owned();
        }
        let injected = amended_in(new, episode).and_then(|amended| amended.injected.as_ref());
        injected.map_or_else(String::new, |injected| {
            let text = String::from_utf8_lossy(&self.vault[&injected.text]).into_owned();
            assert!(sent.contains(&text), "on record and not sent: {text}");
            text
        })
    }

    /// A prompt that continues the one before only adds to it, unless code in it has become wrong.
    fn check_growth(
        &mut self,
        sent: &SentPrompt,
        history: History,
        amended: Option<&PromptAmended>,
    ) {
        let messages = sent.messages();
        if let Some((request, before)) = self.last_sent.take()
            && history == History::Client
            && amended.is_none_or(|amended| amended.withheld.is_empty())
            && sent.request.messages.len() > request.len()
            && sent.request.messages.starts_with(&request)
        {
            for (index, (now, then)) in messages.iter().zip(&before).enumerate() {
                assert_eq!(now, then, "message {index} changed");
            }
            self.grown_prompts += 1;
        }
        self.last_sent =
            (history == History::Client).then(|| (sent.request.messages.clone(), messages));
    }

    /// The number of prompts that only grew.
    #[must_use]
    pub const fn grown_prompts(&self) -> usize {
        self.grown_prompts
    }

    /// Reads events that were decided on this disk.
    ///
    /// # Panics
    /// When the law is broken.
    pub fn follow_events(&mut self, new: &[Recorded], disk: &Disk) {
        for recorded in new {
            self.follow_event(recorded, disk);
        }
        assert!(
            self.replaced.is_empty(),
            "nothing took the place of {:?}",
            self.replaced
        );
        for (file, version) in std::mem::take(&mut self.files_promoted) {
            self.check_file(&file, version);
        }
    }

    /// Compares with the folded state.
    ///
    /// # Panics
    /// When they differ.
    pub fn compare_state(&self, state: &State, view: &StateView<'_>) {
        let anomalies: Vec<AnomalyRow> = state.rows();
        assert!(anomalies.is_empty(), "{anomalies:?}");
        assert_eq!(state.state_map().len(), self.authoritative.len());
        for (entity, version) in &self.authoritative {
            let current = view.current_version(entity);
            assert_eq!(
                current.map(|current| current.version),
                Some(*version),
                "{entity}"
            );
        }
    }

    /// The true entities with the hashes of their versions.
    pub fn truths(&self) -> impl Iterator<Item = (&EntityId, SliceHash)> {
        self.authoritative
            .iter()
            .filter_map(|(entity, version)| Some((entity, *self.slices.get(version)?)))
    }

    /// Bytes of the Vault.
    #[must_use]
    pub fn bytes(&self, hash: ArtifactHash) -> Option<&[u8]> {
        self.vault.get(&hash).map(Vec::as_slice)
    }

    fn follow_event(&mut self, recorded: &Recorded, disk: &Disk) {
        match &recorded.event {
            Event::Content(content) => {
                self.vault.insert(content.hash, content.bytes.to_vec());
            }
            Event::ArtifactCaptured(captured) => {
                if let Some(within) = captured.within {
                    let bytes = &self.vault[&within.container][within.span.range()];
                    assert_eq!(captured.artifact, ArtifactHash::of(bytes));
                    self.vault.insert(captured.artifact, bytes.to_vec());
                }
                assert!(self.vault.contains_key(&captured.artifact));
                self.captured.insert(captured.capture, captured.artifact);
            }
            Event::ArtifactResolved(resolved) => {
                for version in &resolved.versions {
                    let state = (version.entity.clone(), ArtifactState::Proposed);
                    self.slices.insert(version.id, version.slice);
                    let source = self.captured[&resolved.capture];
                    self.sources.insert(version.id, source);
                    assert_eq!(self.versions.insert(version.id, state), None, "{version:?}");
                }
            }
            event @ (Event::Transitioned(_) | Event::VersionsPromoted(_)) => {
                for moved in event.transitions() {
                    self.check_transition(&moved, disk);
                }
            }
            Event::DiskObserved(seen) if matches!(seen.finding, DiskFinding::File(_)) => {
                self.files_seen.insert(seen.path.clone());
            }
            _ => {}
        }
    }

    /// Only the law's arrows occur, and each entity has one authoritative version.
    fn check_transition(&mut self, moved: &Transitioned, disk: &Disk) {
        let entity = &moved.entity;
        let (owner, state) = self
            .versions
            .get_mut(&moved.version)
            .unwrap_or_else(|| panic!("an unknown version moves: {moved:?}"));
        assert_eq!(owner, entity, "{moved:?}");
        assert_eq!(*state, moved.transition.from(), "{moved:?}");
        *state = moved.transition.to();
        match moved.transition {
            Transition::Promote => {
                check_report(moved);
                if moved.origin == Origin::Model {
                    self.check_base(moved, disk);
                    if entity.symbol.is_none() {
                        self.files_promoted.push((entity.clone(), moved.version));
                    }
                }
                self.replaced.remove(entity);
                let before = self.authoritative.insert(entity.clone(), moved.version);
                assert_eq!(before, None, "two truths of {entity}");
                self.acknowledged.remove(entity);
                let is_known = match disk.at(&entity.path) {
                    Some(DiskEntry::File(_)) => true,
                    Some(DiskEntry::Locked | DiskEntry::Link(_)) => false,
                    // That a file is gone is known of one that was there.
                    None => self.files_seen.contains(&entity.path),
                };
                if is_known {
                    self.acknowledged
                        .insert(entity.clone(), on_disk(disk, entity));
                }
            }
            Transition::Supersede | Transition::Remove => {
                let before = self.authoritative.remove(entity);
                assert_eq!(before, Some(moved.version), "{moved:?}");
                if moved.cause == Reason::Replaced {
                    self.replaced.insert(entity.clone(), moved.version);
                }
                assert!(
                    moved.transition == Transition::Supersede || moved.origin == Origin::User,
                    "only the user removes: {moved:?}"
                );
                assert!(
                    moved.transition == Transition::Remove
                        || entity.symbol.is_none()
                        || moved.cause == Reason::Replaced,
                    "a symbol gives way to its own next version alone: {moved:?}"
                );
            }
            Transition::Discard => {}
        }
    }

    /// A file promoted from the model's code holds the true version of each of its symbols.
    fn check_file(&self, file: &EntityId, version: VersionId) {
        if self.authoritative.get(file) != Some(&version) {
            return;
        }
        let text = &self.vault[&self.sources[&version]];
        let extraction = extraction_of(&file.path, text)
            .unwrap_or_else(|| panic!("{file} became true without being read"));
        let slices = extraction.slices(text);
        for (entity, current) in &self.authoritative {
            let Some(symbol) = entity.symbol.as_ref().filter(|_| entity.path == file.path) else {
                continue;
            };
            assert_eq!(
                slices.get(symbol),
                self.slices.get(current),
                "{entity} is not what its file says"
            );
        }
    }

    /// The model replaces only code that disk agrees with, that the user preferred to the disk's, or that its own client has replaced on
    /// disk already (spec §15.5).
    fn check_base(&self, moved: &Transitioned, disk: &Disk) {
        let entity = &moved.entity;
        let Some(entry) = disk.at(&entity.path) else {
            return;
        };
        assert_ne!(*entry, DiskEntry::Locked, "{moved:?}");
        let seen = on_disk(disk, entity);
        let base = self.replaced.get(entity);
        let agrees = match base {
            Some(base) => seen == self.slices.get(base).copied(),
            None => seen.is_none_or(|seen| self.slices.get(&moved.version) == Some(&seen)),
        };
        let is_acknowledged = base.is_some() && self.acknowledged.get(entity) == Some(&seen);
        let is_written = seen == self.slices.get(&moved.version).copied();
        if is_written || self.is_on_disk(moved, disk) {
            return;
        }
        assert!(
            agrees || is_acknowledged,
            "the model built on what disk contradicts: {moved:?}"
        );
    }

    /// Whether the file on disk is the promoted artifact: the aftermath of an agent's refused edit that passes the gates.
    fn is_on_disk(&self, moved: &Transitioned, disk: &Disk) -> bool {
        let text = &self.vault[&self.sources[&moved.version]];
        matches!(disk.at(&moved.entity.path), Some(DiskEntry::File(held)) if held.as_bytes() == text)
    }

    /// Every block is exactly the authoritative slice, and nothing in it is contradicted by disk.
    ///
    /// # Panics
    /// When a block isn't.
    pub fn check_prompt(
        &self,
        view: &StateView<'_>,
        disk: &Disk,
        composed: &PromptComposed,
        text: &str,
    ) {
        let blocks = blocks_of(text);
        let tokens: u32 = composed
            .hydrated
            .iter()
            .map(|hydrated| hydrated.tokens)
            .sum();
        assert!(tokens <= composed.budget_tokens);
        let shown = composed.hydrated.iter().filter(|shown| shown.tokens > 0);
        let shown: Vec<_> = shown.collect();
        assert_eq!(blocks.len(), shown.len(), "{text}");
        for (block, hydrated) in blocks.iter().zip(shown) {
            let entity = &hydrated.entity;
            let current = view.current_version(entity);
            let current = current.unwrap_or_else(|| panic!("hydrated, not true: {entity}"));
            assert_eq!(current.version, hydrated.version);
            let source = &self.vault[&current.artifact];
            let code = slice::joined(source, &current.spans);
            let code = String::from_utf8_lossy(&code);
            let tag = TreeSitterGrammars::new();
            let tag = tag.tag_of_path(&entity.path).unwrap_or_default();
            let expected = format!(
                "Entity: {entity}\nArtifact: {:.12}\nSource: Confirmed via AST\n\n```{tag}\n{}\n```",
                current.slice,
                code.trim_end_matches('\n')
            );
            assert_eq!(*block, expected);
            let canonical = match &entity.symbol {
                Some(_) => slice::hash_of_spans(source, &current.spans),
                None => slice::hash_of_whole(source),
            };
            assert_eq!(canonical, current.slice, "{entity}");
            self.check_against_disk(disk, entity, current.slice);
            if entity.symbol.is_none() {
                self.check_parts_against_disk(disk, entity);
            }
        }
        check_order(text);
    }

    /// A file that is shown holds no definition that is withheld.
    fn check_parts_against_disk(&self, disk: &Disk, file: &EntityId) {
        for (part, shown) in self.truths() {
            if part.path == file.path && part.symbol.is_some() {
                self.check_against_disk(disk, part, shown);
            }
        }
    }

    fn check_against_disk(&self, disk: &Disk, entity: &EntityId, shown: SliceHash) {
        match disk.at(&entity.path) {
            None => {}
            Some(DiskEntry::Locked | DiskEntry::Link(_)) => {
                panic!("shown, though disk can't be read: {entity}")
            }
            Some(DiskEntry::File(_)) => {
                let seen = on_disk(disk, entity);
                let is_acknowledged = self.acknowledged.get(entity) == Some(&seen);
                assert!(
                    seen == Some(shown) || is_acknowledged,
                    "STALE code is shown: {entity} as {shown}, where disk holds {seen:?} and held {:?} when it became true",
                    self.acknowledged.get(entity)
                );
            }
        }
    }
}

/// What is off is in no prompt, and beside what is locked nothing is added; a lock wins.
fn check_scope(view: &StateView<'_>, session: SessionId, composed: &PromptComposed, sent: &str) {
    let scope = view.state.scope();
    let locked = scope.locked(session);
    let may_be_shown = |path: &RelPath| {
        locked.contains(path) || locked.is_empty() && !scope.off().is_off(path.as_str())
    };
    let mut added = composed.hydrated.iter().filter(|shown| shown.tokens > 0);
    assert!(
        added.all(|shown| may_be_shown(&shown.entity.path)),
        "{sent}"
    );
    for path in view.state.state_map().paths() {
        let is_off = scope.off().is_off(path.as_str()) && !locked.contains(path);
        let is_shown = |block: &&str| {
            let entity = block.strip_prefix("Entity: ");
            let rest = entity.and_then(|entity| entity.strip_prefix(path.as_str()));
            rest.is_some_and(|rest| rest.starts_with(['\n', ':']))
        };
        let block = blocks_of(sent).into_iter().find(is_shown);
        assert!(!is_off || block.is_none(), "{path} is off: {block:?}");
    }
}

/// The recorded amendments of a prompt, if there are any.
fn amended_in(new: &[Recorded], episode: EpisodeId) -> Option<&PromptAmended> {
    new.iter().find_map(|recorded| match &recorded.event {
        Event::PromptAmended(amended) if recorded.episode == episode => Some(amended),
        _ => None,
    })
}

/// The model's code is promoted by a grant of gate B with every needed rule met; only the user may override a rule.
fn check_report(moved: &Transitioned) {
    if moved.origin == Origin::User {
        return;
    }
    let report = moved.report.as_ref();
    let report = report.unwrap_or_else(|| panic!("promoted without a report: {moved:?}"));
    let is_granted = matches!(
        report.conclusion,
        Some(Reason::StructuralParity | Reason::ShadowAudit | Reason::UserVerified)
    );
    assert!(report.passed && is_granted, "{moved:?}");
    assert_eq!(report.conclusion, Some(moved.cause), "{moved:?}");
    assert!(
        report.passed_gate_a() && !report.failed_by_itself(),
        "{moved:?}"
    );
    assert!(
        report
            .verdicts
            .iter()
            .any(|verdict| Some(verdict.rule) == report.conclusion && verdict.met),
        "{moved:?}"
    );
}

/// The slice of an entity on disk, found by reading the file.
fn on_disk(disk: &Disk, entity: &EntityId) -> Option<SliceHash> {
    let Some(DiskEntry::File(text)) = disk.at(&entity.path) else {
        return None;
    };
    match &entity.symbol {
        None => Some(slice::hash_of_whole(text.as_bytes())),
        Some(symbol) => {
            let extraction = extraction_of(&entity.path, text.as_bytes())?;
            extraction.slices(text.as_bytes()).get(symbol).copied()
        }
    }
}

/// The texts between the delimiters of hydrated code.
fn blocks_of(text: &str) -> Vec<&str> {
    text.split(&format!("{STATE_OPEN}\n"))
        .skip(1)
        .map(|rest| {
            rest.split(&format!("\n{STATE_CLOSE}"))
                .next()
                .unwrap_or_default()
        })
        .collect()
}

/// Code, then notices, then recent context (spec §8.4).
fn check_order(text: &str) {
    let last_code = text.rfind(STATE_CLOSE);
    let notice = text.find(NOTICE_OPEN);
    let recent = text.find(RECENT_OPEN);
    let ascending: Vec<usize> = [last_code, notice, recent].into_iter().flatten().collect();
    assert!(ascending.is_sorted(), "{text}");
}
