//! More actions of the random player: edits in every format, audits, directives, requests for changes.

use arbitrary::{Result, Unstructured};
use tslp_core::event::{AuditOutcome, Event};
use tslp_core::message::Role;
use tslp_projections::file_code::TrueEntity;

use super::code::{FILES, Function, NAMES, Preamble, text_of, with_function};
use super::edits::{self, FORMS, WrittenEdit};
use super::player::{Player, block, some_function};
use crate::script::{Ending, Step};
use crate::verdicts::{self, Detail};

/// The number of last events that are shown when the law is broken.
const EVENTS_SHOWN: usize = 40;

/// The effect of an edit on the definition that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditEffect {
    /// Another body.
    Faithful,
    /// Another body for one that was never true.
    OfAnotherBase,
    /// A placeholder in its place.
    Lazy,
    /// A body that does nothing.
    Collapsed,
    /// No definition at all.
    Dropped,
    /// The same under another name.
    Renamed,
    /// The same, and another one after it.
    Extended,
}

const EDIT_EFFECTS: [EditEffect; 9] = [
    EditEffect::Faithful,
    EditEffect::Faithful,
    EditEffect::Faithful,
    EditEffect::OfAnotherBase,
    EditEffect::Lazy,
    EditEffect::Collapsed,
    EditEffect::Dropped,
    EditEffect::Renamed,
    EditEffect::Extended,
];

impl Player {
    /// The model edits a definition, in one of the formats.
    pub(super) fn model_edits(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let tracked = self.functions_tracked(path);
        let old = if tracked.is_empty() {
            some_function(u)?
        } else {
            *u.choose(&tracked)?
        };
        let change = *u.choose(&EDIT_EFFECTS)?;
        let written = edit_of(u, path, old, change)?;
        // A definition outside of the vocabulary, or one of several, may have the lines that the edit replaces.
        let current = self.stage.view().current_version(&old.entity_in(path));
        let is_exact = current
            .is_some_and(|current| current.slice == old.slice_hash() && current.spans.len() == 1);
        let ending = *u.choose(&[Ending::Whole, Ending::Whole, Ending::Pieces, Ending::Cut])?;
        let before = self.true_entities();
        let text = self.model_says(written, ending);
        self.check_nothing_removed(&before, &text);
        // What is quoted whole may go.
        let is_legal = matches!(
            change,
            EditEffect::Faithful | EditEffect::Extended | EditEffect::Dropped | EditEffect::Renamed
        );
        let may_change = !is_exact || is_legal && ending != Ending::Cut;
        self.check_unchanged(
            &before,
            may_change,
            &format!("{change:?} {ending:?}: {text}"),
        );
        Ok(())
    }

    /// The model writes a whole file by a tool call: faithfully, or without one of its functions.
    pub(super) fn model_writes_file(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let tracked = self.functions_tracked(path);
        let drops = u.arbitrary()?;
        let kept = if drops {
            tracked.get(1..).unwrap_or_default()
        } else {
            &tracked
        };
        let function = some_function(u)?;
        let text = text_of(&with_function(kept, function), Preamble::Include);
        let gone = drops
            && tracked
                .first()
                .is_some_and(|first| first.name != function.name);
        let before = self.true_entities();
        let text = self.model_says(edits::whole_file_call(path, &text), Ending::Whole);
        self.check_nothing_removed(&before, &text);
        let is_named = tracked
            .first()
            .is_some_and(|it| self.is_named_by_user(it.name));
        self.check_unchanged(&before, !gone || is_named, &text);
        Ok(())
    }

    /// The user edits a definition; the law decides whether it applies.
    pub(super) fn user_edits(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let tracked = self.functions_tracked(path);
        let old = if tracked.is_empty() {
            some_function(u)?
        } else {
            *u.choose(&tracked)?
        };
        let change = *u.choose(&EDIT_EFFECTS)?;
        if let WrittenEdit::Text(text) = edit_of(u, path, old, change)? {
            self.stage.step(Step::User(text));
        }
        Ok(())
    }

    /// The auditor answers the last question, or doesn't.
    pub(super) fn answer_audit(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let asked = self
            .stage
            .ledger()
            .iter()
            .rev()
            .find_map(|recorded| match &recorded.event {
                Event::AuditAsked(asked) => Some(asked.about.clone()),
                _ => None,
            });
        let outcome = *u.choose(&[
            AuditOutcome::Answered,
            AuditOutcome::Answered,
            AuditOutcome::Answered,
            AuditOutcome::Failed,
        ])?;
        let mut verdicts = Vec::new();
        for audited in asked.unwrap_or_default() {
            let status = *u.choose(&["completed", "completed", "partial", "discussion", "fine"])?;
            verdicts.push(format!(
                "{{\"entity\": \"{}\", \"status\": \"{status}\"}}",
                audited.entity
            ));
        }
        let before = self.true_entities();
        let answer = format!("[{}]", verdicts.join(", "));
        self.stage.step(Step::Audit {
            outcome,
            answer: answer.clone(),
        });
        self.check_nothing_removed(&before, &answer);
        self.check_unchanged(&before, outcome == AuditOutcome::Answered, &answer);
        Ok(())
    }

    /// The user orders something by a directive.
    pub(super) fn give_directive(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let verb = *u.choose(&["confirm", "confirm", "reject", "accept"])?;
        let name = match u.int_in_range(0..=3_u8)? {
            0 => "renamed_one",
            _ => *u.choose(&NAMES)?,
        };
        let target = match u.int_in_range(0..=2_u8)? {
            0 => path.to_owned(),
            _ => format!("{path}::{name}"),
        };
        self.stage
            .step(Step::User(format!("@tslp {verb} {target}")));
        Ok(())
    }

    /// The user says which files models may see.
    pub(super) fn change_scope(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let verb = *u.choose(&["off", "off", "on", "lock", "unlock", "unlock"])?;
        let target = match verb {
            "off" | "on" => *u.choose(&[FILES[0], FILES[1], "*.c", "**"])?,
            _ => *u.choose(&FILES)?,
        };
        let asked = *u.choose(&FILES)?;
        let text = format!("@tslp {verb} {target}\n\nPlease explain {asked}");
        self.stage.step(Step::User(text));
        Ok(())
    }

    /// The client is an agent that takes another step of its loop: the user's last message changes nothing any more.
    pub(super) fn continue_agent_loop(&mut self) {
        if !self.stage.is_answered() {
            return;
        }
        let before = self.true_entities();
        self.stage.step(Step::Context {
            role: Role::Tool,
            text: "done".into(),
        });
        self.stage.step(Step::Again);
        self.check_unchanged(&before, false, "another step of the loop");
    }

    /// The user asks for another change of an entity, which verifies what was proposed for it.
    pub(super) fn ask_for_change(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let path = *u.choose(&FILES)?;
        let name = *u.choose(&NAMES)?;
        let text = match u.int_in_range(0..=2_u8)? {
            0 => format!("Now change {path} further"),
            1 => format!("Now extend `{name}`"),
            _ => format!("Now extend {path}::{name}"),
        };
        self.stage.step(Step::User(text));
        Ok(())
    }

    /// One more block of a reply: of the same file or another one.
    pub(super) fn second_block(&self, u: &mut Unstructured<'_>, path: &str) -> Result<String> {
        let path = *u.choose(&[path, FILES[0], FILES[1]])?;
        let function = some_function(u)?;
        match u.int_in_range(0..=2_u8)? {
            0 => block(u, path, &function.text()),
            1 => {
                let text = text_of(
                    &with_function(&self.functions_tracked(path), function),
                    Preamble::Include,
                );
                block(u, path, &text)
            }
            _ => Ok(match edit_of(u, path, function, EditEffect::Faithful)? {
                WrittenEdit::Text(text) => text,
                WrittenEdit::Call(_, arguments) => arguments,
            }),
        }
    }

    /// Returns the text of the edit, for the message of a broken law.
    fn model_says(&mut self, written: WrittenEdit, ending: Ending) -> String {
        let (text, shown) = match written {
            WrittenEdit::Text(text) => (text.clone(), text),
            WrittenEdit::Call(name, arguments) => {
                let shown = format!("{name} {arguments}");
                self.stage.step(Step::Call {
                    name: name.into(),
                    arguments,
                });
                (String::from("I edit it.\n"), shown)
            }
        };
        self.stage.step(Step::Model { text, ending });
        shown
    }

    fn check_unchanged(&self, before: &[TrueEntity], may_change: bool, what: &str) {
        let is_unchanged = before == self.true_entities();
        let ledger = self.stage.ledger();
        let last = &ledger[ledger.len().saturating_sub(EVENTS_SHOWN)..];
        assert!(
            is_unchanged || may_change,
            "this changed the truth: {what}\n{}",
            verdicts::listing(last, Detail::Decisions)
        );
    }
}

fn edit_of(
    u: &mut Unstructured<'_>,
    path: &str,
    old: Function,
    change: EditEffect,
) -> Result<WrittenEdit> {
    let form = *u.choose(&FORMS)?;
    let (base, new) = match change {
        EditEffect::Faithful => (old.text(), old.with_next_body().text()),
        EditEffect::OfAnotherBase => (
            old.with_next_body().text(),
            old.with_next_body().with_next_body().text(),
        ),
        EditEffect::Lazy => (old.text(), old.lazy_text()),
        EditEffect::Collapsed => (old.text(), old.collapsed_text()),
        EditEffect::Dropped => (old.text(), String::new()),
        EditEffect::Renamed => (old.text(), old.text_named("renamed_one")),
        EditEffect::Extended => {
            let added = old.with_next_body().text_named("added_one");
            (old.text(), format!("{}\n{added}", old.text()))
        }
    };
    Ok(edits::written_edit(form, path, &base, &new))
}
