//! Random stories of users, models and disks; the law is checked after every step.

use std::collections::BTreeMap;

use arbitrary::{Result, Unstructured};
use tslp_core::artifact::Origin;
use tslp_core::entity::Symbol;
use tslp_core::event::{Author, Event};
use tslp_core::gate::GateProfile;
use tslp_core::message::Role;
use tslp_core::path::RelPath;
use tslp_core::policy::{AuditChoice, Policy};
use tslp_core::reason::Reason;
use tslp_core::scope::ScopeChange;
use tslp_decide::observe;
use tslp_projections::file_code::TrueEntity;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;

use super::code::{
    FILES, Function, NAMES, Preamble, VARIANTS, fenced_block, text_of, with_function,
};
use super::invariants::Law;
use crate::disk::DiskEntry;
use crate::script::{Ending, Step};
use crate::stage::{EngineMemory, Stage};

/// Most steps of a story.
const STEPS_MAX: usize = 60;

/// Plays the story that the bytes encode.
///
/// # Panics
/// When the law is broken.
pub fn play_story(data: &[u8]) {
    let stage = play_with_memory(data, EngineMemory::All);
    stage.check_replay();
    let forgetful = play_with_memory(data, EngineMemory::Nothing);
    assert_eq!(forgetful.ledger(), stage.ledger(), "without memory");
}

/// Plays the story that the bytes encode, and returns the stage at its end.
///
/// # Panics
/// When the law is broken.
#[must_use]
pub fn play_with_memory(data: &[u8], memory: EngineMemory) -> Stage {
    let mut source = Unstructured::new(data);
    let policy = random_policy(&mut source).unwrap_or_default();
    let mut player = Player {
        profile: policy.profile,
        stage: Stage::with_memory(policy, memory),
        law: Law::default(),
    };
    for _ in 0..STEPS_MAX {
        if source.is_empty() || player.play_step(&mut source).is_err() {
            break;
        }
        player.law.check_step(&player.stage);
    }
    player.stage
}

pub(super) struct Player {
    pub(super) stage: Stage,
    law: Law,
    profile: GateProfile,
}

/// What a model does in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelAction {
    Talk,
    Fragment,
    WholeFile,
    Lazy,
    Cut,
    Unclosed,
    Broken,
    Dropped,
    Renamed,
    Collapsed,
    WithoutPath,
}

const MODEL_ACTIONS: [ModelAction; 12] = [
    ModelAction::Talk,
    ModelAction::Fragment,
    ModelAction::Fragment,
    ModelAction::WholeFile,
    ModelAction::Lazy,
    ModelAction::Cut,
    ModelAction::Unclosed,
    ModelAction::Broken,
    ModelAction::Dropped,
    ModelAction::Renamed,
    ModelAction::Collapsed,
    ModelAction::WithoutPath,
];

impl Player {
    fn play_step(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        match u.int_in_range(0..=30_u8)? {
            20..=23 => self.model_edits(u)?,
            24 | 25 => self.answer_audit(u)?,
            26 => self.give_directive(u)?,
            27 => self.ask_for_change(u)?,
            28 => self.user_edits(u)?,
            29 => self.model_writes_file(u)?,
            30 => self.change_scope(u)?,
            0..=4 => self.paste_code(u)?,
            5..=7 => self.ask_question(u)?,
            8..=14 => self.model_replies(u)?,
            15..=17 => self.change_disk(u)?,
            18 => {
                let window = u.choose(&["A", "B"])?;
                self.stage.step(Step::Client((*window).into()));
            }
            _ => match u.int_in_range(0..=4_u8)? {
                4 => self.repeat_first_message(u)?,
                3 => self.continue_agent_loop(),
                0 => self.stage.step(Step::New),
                1 => {
                    self.stage.step(Step::Back(1));
                    self.stage.step(Step::Again);
                }
                _ => {
                    self.stage.step(Step::Back(1));
                    self.stage.step(Step::Retry);
                }
            },
        }
        Ok(())
    }

    /// Repeats the first message of an old conversation: a client asks for another reply to it, or begins another conversation
    /// with it. What was true and is on disk stays so.
    fn repeat_first_message(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let beginnings: Vec<String> = self.first_messages();
        if beginnings.is_empty() {
            return Ok(());
        }
        let text = u.choose(&beginnings)?.clone();
        let truths = self.law.truths();
        let before: Vec<_> = truths
            .map(|(entity, truth)| (entity.clone(), truth))
            .collect();
        self.stage.step(Step::New);
        self.stage.step(Step::User(text.clone()));
        if text.contains("@tslp confirm") {
            return Ok(());
        }
        let view = self.stage.view();
        for (entity, truth) in before {
            if observe::slice_on_disk(&view, &entity) == Some(truth) {
                assert_eq!(
                    view.current_version(&entity).map(|current| current.slice),
                    Some(truth),
                    "{entity} is on disk as it was true, and a repeated message replaced it:\n{text}"
                );
            }
        }
        Ok(())
    }

    /// The first messages of all conversations.
    fn first_messages(&self) -> Vec<String> {
        let ledger = self.stage.ledger().iter();
        let contents = ledger.filter_map(|recorded| match &recorded.event {
            Event::PromptReceived(prompt) if prompt.length == 1 => Some(prompt.messages[0].content),
            _ => None,
        });
        contents
            .filter_map(|content| String::from_utf8(self.law.bytes(content)?.to_vec()).ok())
            .collect()
    }

    /// The user pastes definitions with their path: they are true at once.
    fn paste_code(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let functions = some_functions(u)?;
        let text = text_of(&functions, preamble(u)?);
        let quoted: Vec<bool> = functions
            .iter()
            .map(|function| self.may_be_a_quote(path, *function))
            .collect();
        self.stage.step(Step::User(block(u, path, &text)?));
        for (function, quoted) in functions.iter().zip(quoted) {
            let entity = function.entity_in(path);
            // The client may have sent the model's older words with this very prompt.
            let quoted = quoted
                || self.was_said_by_others(&function.text()) && !self.is_on_disk(path, *function);
            let is_true = self
                .stage
                .view()
                .current_version(&entity)
                .is_some_and(|current| current.slice == function.slice_hash());
            assert!(
                is_true || quoted || self.is_repeated_message() || self.is_locked(),
                "the user's paste of {entity} didn't win:\n{text}"
            );
            assert!(
                self.stage.view().divergence(&entity).is_none()
                    || self.stage.disk().at(&entity.path) == Some(&DiskEntry::Locked)
                    || quoted
                    || self.is_repeated_message()
                    || self.is_locked(),
                "pasting {entity} didn't settle it"
            );
        }
        Ok(())
    }

    /// Whether the last prompt's text is that of an older message of anybody's: the same turn again, another window at the same
    /// point, a conversation that begins like an old one, or a reply that is quoted whole. Then the disk decides, and a notice
    /// says so.
    fn is_repeated_message(&self) -> bool {
        let ledger = self.stage.ledger().iter();
        let mut contents: Vec<_> = ledger
            .filter_map(|recorded| match &recorded.event {
                Event::PromptReceived(prompt) => Some(prompt.messages.iter()),
                _ => None,
            })
            .flatten()
            .map(|message| message.content)
            .collect();
        let last = contents.pop();
        last.is_some_and(|last| contents.contains(&last))
    }

    /// Whether a paste may be a quote of the model's open proposal, which doesn't make it the user's.
    fn may_be_a_quote(&self, path: &str, function: Function) -> bool {
        let entity = function.entity_in(path);
        let is_proposed = self
            .stage
            .view()
            .proposals_for(&entity)
            .iter()
            .any(|proposal| {
                proposal.origin == Origin::Model && proposal.slice == function.slice_hash()
            });
        (is_proposed || self.was_said_by_others(&function.text()))
            && !self.is_on_disk(path, function)
    }

    /// Whether a prompt may not go out, and what it changes not count, because of a lock.
    fn is_locked(&self) -> bool {
        let mut rules = self.stage.state().scope().rules();
        rules.any(|rule| rule.rule == ScopeChange::Lock)
    }

    fn is_on_disk(&self, path: &str, function: Function) -> bool {
        match self.stage.disk().at(&function.entity_in(path).path) {
            Some(DiskEntry::File(text)) => text.contains(&function.text()),
            _ => false,
        }
    }

    /// Whether the model or a tool has said this text.
    fn was_said_by_others(&self, text: &str) -> bool {
        let escaped = serde_json::to_string(text).expect("a text is JSON");
        let escaped = escaped.trim_matches('"');
        // Of the ledger: the law learns of a step's contents only after it.
        let contents: BTreeMap<_, _> = self
            .stage
            .ledger()
            .iter()
            .filter_map(|recorded| match &recorded.event {
                Event::Content(content) => Some((content.hash, &content.bytes)),
                _ => None,
            })
            .collect();
        // Of a reply that was recorded in pieces the whole counts.
        let mut texts: BTreeMap<_, String> = BTreeMap::new();
        for said in self.stage.state().provenance().texts_after(None) {
            if said.author != Author::User {
                let bytes = self
                    .law
                    .bytes(said.text)
                    .or_else(|| contents.get(&said.text).map(|bytes| &***bytes));
                let bytes = bytes.expect("who said it is known of recorded texts");
                let whole = texts.entry((said.episode, said.author)).or_default();
                whole.push_str(&String::from_utf8_lossy(bytes));
            }
        }
        let mut texts = texts.values();
        texts.any(|said| said.contains(text) || said.contains(escaped))
    }

    fn ask_question(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let mut text = String::from("Please explain");
        for _ in 0..u.int_in_range(0..=3_u8)? {
            let name = *u.choose(&NAMES)?;
            let file = *u.choose(&FILES)?;
            text.push_str(&match u.int_in_range(0..=3_u8)? {
                0 => format!(" {name}()"),
                1 => format!(" `{name}`"),
                2 => format!(" {file}::{name}"),
                _ => format!(" {file}"),
            });
        }
        self.stage.step(Step::User(text));
        Ok(())
    }

    fn model_replies(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let action = *u.choose(&MODEL_ACTIONS)?;
        let function = some_function(u)?;
        let tracked = self.functions_tracked(path);
        let mut ending = match action {
            ModelAction::Cut => Ending::Cut,
            ModelAction::Broken => *u.choose(&[Ending::Broken, Ending::ClientGone])?,
            _ => *u.choose(&[Ending::Whole, Ending::Whole, Ending::Pieces])?,
        };
        let text = match action {
            ModelAction::Talk => String::from("It adds numbers.\n"),
            ModelAction::Fragment => block(u, path, &function.text())?,
            ModelAction::WholeFile => {
                let changed = with_function(&tracked, function);
                block(u, path, &text_of(&changed, Preamble::Include))?
            }
            ModelAction::Lazy => block(u, path, &function.lazy_text())?,
            ModelAction::Cut | ModelAction::Broken => block(u, path, &function.text())?,
            ModelAction::Unclosed => {
                let closed = block(u, path, &function.text())?;
                closed.trim_end().trim_end_matches('`').into()
            }
            ModelAction::Dropped => {
                let kept = with_function(tracked.get(1..).unwrap_or_default(), function);
                let kept: Vec<Function> = kept
                    .into_iter()
                    .filter(|kept| Some(kept.name) != tracked.first().map(|first| first.name))
                    .collect();
                block(u, path, &text_of(&kept, Preamble::Include))?
            }
            ModelAction::Renamed => {
                let mut text = text_of(tracked.get(1..).unwrap_or_default(), Preamble::Include);
                if let Some(first) = tracked.first() {
                    text.push_str(&first.text_named("renamed_one"));
                }
                block(u, path, &text)?
            }
            ModelAction::Collapsed => block(u, path, &function.collapsed_text())?,
            ModelAction::WithoutPath => format!("```c\n{}```\n", function.text()),
        };
        if action == ModelAction::Talk {
            ending = Ending::Whole;
        }
        let text = match u.int_in_range(0..=5_u8)? {
            0 => format!("{text}\nAlso:\n\n{}", self.second_block(u, path)?),
            _ => text,
        };
        let is_alone = !text.contains("\nAlso:\n");
        let before = self.true_entities();
        let read = self.stage.ledger().len();
        self.stage.step(Step::Model {
            text: text.clone(),
            ending,
        });
        self.check_nothing_removed(&before, &text);
        if !is_alone {
            return Ok(());
        }
        let was_open = self.stage.ledger().len() > read;
        self.check_reply(action, path, function, &tracked, &before, was_open, &text);
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "everything that a reply's verdict depends on"
    )]
    fn check_reply(
        &self,
        action: ModelAction,
        path: &str,
        function: Function,
        tracked: &[Function],
        before: &[TrueEntity],
        was_open: bool,
        text: &str,
    ) {
        let after = self.true_entities();
        let is_tracked = tracked.iter().any(|known| known.name == function.name);
        let must_not_change = match action {
            ModelAction::Talk
            | ModelAction::Lazy
            | ModelAction::Cut
            | ModelAction::Unclosed
            | ModelAction::Broken => true,
            ModelAction::Dropped | ModelAction::Renamed => {
                let gone = tracked.first();
                gone.is_some_and(|gone| !self.is_named_by_user(gone.name))
            }
            ModelAction::Collapsed => is_tracked,
            // Without a path it may be linked by what the model was shown.
            ModelAction::Fragment | ModelAction::WholeFile | ModelAction::WithoutPath => false,
        };
        // Beside other code a function that the file lacks may be the one of that name in another file.
        let is_anothers = |it: &TrueEntity| {
            let name = it.entity.symbol_str();
            let is_shown = name.is_some_and(|it| text.contains(&format!("int {it}(")));
            let is_known = |known: &Function| Some(known.name) == name;
            is_shown && it.entity.path.as_str() != path && !tracked.iter().any(is_known)
        };
        let shows_others = before.iter().any(is_anothers);
        assert!(
            before == after || !must_not_change || shows_others,
            "{action:?} changed the truth:\n{text}"
        );
        let is_faithful = matches!(action, ModelAction::Fragment | ModelAction::WholeFile);
        let entity = function.entity_in(path);
        // A function that is new may look like another one, or be one that the user removed: then the user is asked.
        let proposals = self.stage.view().proposals_for(&entity);
        let is_refused_for = |reasons: &[Reason]| {
            let mut reasons_of = proposals.iter().filter_map(Proposal::refused_for);
            reasons_of.any(|reason| reasons.contains(&reason))
        };
        let is_asked_about = is_refused_for(&[
            Reason::RenameSuspected,
            Reason::MovedOrCopied,
            Reason::RemovedByUser,
        ]);
        // Of two bodies made by chance one may be the other without some of its lines.
        let looks_like_damage = is_refused_for(&[Reason::RemovedUnasked, Reason::StubInPlace]);
        // What an edit added isn't in the vocabulary, so the reply's whole file lacks it.
        let symbols = self.stage.view().state.state_map().symbols_of(&entity.path);
        let is_foreign = |symbol: &Symbol| !NAMES.contains(&symbol.as_str());
        let is_all_there = action == ModelAction::Fragment || !symbols.iter().any(is_foreign);
        let counts = self.profile == GateProfile::Standard
            && !self.is_locked()
            && is_faithful
            && is_all_there
            && !looks_like_damage
            && (is_tracked || !is_asked_about && !shows_others);
        let is_on_disk = self.stage.disk().at(&entity.path).is_some();
        // Of a file that was deleted only a whole one is new code.
        let is_part_of_nothing = action == ModelAction::Fragment
            && self.stage.view().divergence(&entity) == Some(Divergence::Gone);
        if was_open
            && counts
            && !is_on_disk
            && !is_part_of_nothing
            && !self.was_unseen_by_model(&entity.path, tracked)
        {
            let current = self.stage.view().current_version(&entity);
            assert_eq!(
                current.map(|current| current.slice),
                Some(function.slice_hash()),
                "{action:?} of {entity} was not promoted:\n{text}"
            );
        }
    }

    /// Whether a reply was refused because the model hadn't seen the code that it replaces, and the prompt didn't show all of it.
    fn was_unseen_by_model(&self, path: &RelPath, tracked: &[Function]) -> bool {
        let open = self.stage.view().proposals_under(path);
        let mut unseen = open
            .iter()
            .filter(|open| open.refused_for() == Some(Reason::BaseUnacknowledged));
        let Some(newest) = unseen.next_back() else {
            return false;
        };
        if let Some(sent) = self.stage.last_sent()
            && sent.episode == newest.episode
        {
            let texts = sent.texts().concat();
            let is_shown = |known: &Function| texts.contains(known.text().trim_end());
            assert!(
                tracked.is_empty() || !tracked.iter().all(is_shown),
                "{path} was shown to the model and counts as unseen:\n{texts}"
            );
        }
        true
    }

    /// A reply removes no symbol, unless it quotes it or the user named it, and nothing names it afterwards; the whole file's entry may
    /// go when a part of it changes.
    pub(super) fn check_nothing_removed(&self, before: &[TrueEntity], text: &str) {
        let after = self.true_entities();
        for TrueEntity { entity, .. } in before {
            let is_kept = after.iter().any(|other| other.entity == *entity);
            let name = entity.symbol_str().unwrap_or_default();
            let is_used = after.iter().any(|it| it.entity.symbol == entity.symbol);
            let may_go = || self.is_named_by_user(name) || !is_used && text.contains(name);
            assert!(
                is_kept || entity.symbol.is_none() || may_go(),
                "a reply removed {entity}:\n{text}"
            );
        }
    }

    pub(super) fn is_named_by_user(&self, name: &str) -> bool {
        let messages = self.stage.last_sent().map(|sent| &sent.request.messages);
        let last = messages.and_then(|it| it.iter().rfind(|it| it.role == Role::User));
        last.is_some_and(|message| message.recorded().contains(name))
    }

    fn change_disk(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let step = match u.int_in_range(0..=7_u8)? {
            0 => Step::Gone(path.into()),
            1 => Step::Locked(path.into()),
            2..=4 => {
                let functions = match self.functions_tracked(path) {
                    tracked if tracked.is_empty() => some_functions(u)?,
                    tracked => tracked,
                };
                let functions = if u.arbitrary()? {
                    functions
                } else {
                    with_function(&functions, some_function(u)?)
                };
                Step::Disk {
                    path: path.into(),
                    text: text_of(&functions, preamble(u)?),
                }
            }
            _ => Step::Disk {
                path: path.into(),
                text: text_of(&some_functions(u)?, preamble(u)?),
            },
        };
        self.stage.step(step);
        Ok(())
    }

    /// The functions of the vocabulary that are true in a file.
    pub(super) fn functions_tracked(&self, path: &str) -> Vec<Function> {
        let view = self.stage.view();
        NAMES
            .iter()
            .filter_map(|name| {
                let entity = Function { name, variant: 0 }.entity_in(path);
                let slice = view.current_version(&entity)?.slice;
                Function::with_slice(name, slice).or(Some(Function { name, variant: 0 }))
            })
            .collect()
    }

    pub(super) fn true_entities(&self) -> Vec<TrueEntity> {
        let map = self.stage.state().state_map();
        map.true_entities().collect()
    }
}

fn random_policy(u: &mut Unstructured<'_>) -> Result<Policy> {
    Ok(Policy {
        profile: *u.choose(&[
            GateProfile::Standard,
            GateProfile::Standard,
            GateProfile::Strict,
        ])?,
        audit: *u.choose(&[AuditChoice::Auto, AuditChoice::On, AuditChoice::Off])?,
        ..Policy::default()
    })
}

pub(super) fn some_function(u: &mut Unstructured<'_>) -> Result<Function> {
    Ok(Function {
        name: u.choose(&NAMES)?,
        variant: u.int_in_range(0..=VARIANTS - 1)?,
    })
}

/// One to four functions with names of their own.
fn some_functions(u: &mut Unstructured<'_>) -> Result<Vec<Function>> {
    let mut functions: Vec<Function> = Vec::new();
    for _ in 0..u.int_in_range(1..=4_u8)? {
        let function = some_function(u)?;
        if functions.iter().all(|known| known.name != function.name) {
            functions.push(function);
        }
    }
    Ok(functions)
}

fn preamble(u: &mut Unstructured<'_>) -> Result<Preamble> {
    Ok(*u.choose(&[Preamble::Include, Preamble::None])?)
}

/// A fenced block with its path in one of the positions in which it counts.
pub(super) fn block(u: &mut Unstructured<'_>, path: &str, code: &str) -> Result<String> {
    let position = u.int_in_range(0..=2_u8)?;
    Ok(fenced_block(position.into(), path, code))
}
