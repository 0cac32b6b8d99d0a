//! The user's directives carried out: accept what disk holds, reject or confirm what the model proposed (engine:
//! "External truth").

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::Recorder;
use crate::code_reader::CodeReader;
use crate::judge::found_code::{self, FoundCode};
use crate::judge::holders::{self, BlockOfProposal};
use crate::judge::lost;
use crate::judge::promote::{self, MessagePieces};
use crate::judge::propose::disk_verdict;
use crate::observe;
use crate::prompt::goal::AT_WORK_MILLIS;
use crate::prompt::hydrate;
use crate::prompt::receive::PromptRepetition;
use crate::prompt::said_texts::letters;
use crate::scope::place::{self, Standpoint};
use crate::user::write_head::{self, CodeSource};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::directive::Directive;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Author, Event, NoticeIssued, ReadFailure, Verb};
use tslp_core::extract::Grammars;
use tslp_core::gate::{DiskVerdict, GateReport, Thresholds, Verdict};
use tslp_core::guardian::{CallPart, call_parts};
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_projections::at_hand::ClientCallRow;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;

/// A directive with its target looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedDirective {
    /// The action.
    pub verb: Verb,
    /// The text after the verb.
    pub target: String,
    /// The target, or why the written one names nothing.
    pub entity: Result<EntityId, Reason>,
    /// Whether the prompt that holds the directive was sent before.
    pub repetition: PromptRepetition,
}

impl ResolvedDirective {
    /// The file to accept, if this accepts one: a file that is locked is, where nothing of it is true.
    #[must_use]
    pub fn accepts(&self) -> Option<&RelPath> {
        let entity = self.entity.as_ref().ok();
        let accepted = entity.filter(|_| matches!(self.verb, Verb::Accept | Verb::Lock));
        accepted.map(|entity| &entity.path)
    }
}

/// The text of a file that the user accepts; `None` if there is no such file.
pub type FileText = Option<Result<String, ReadFailure>>;

/// Looks up a directive's target.
#[must_use]
pub fn resolve_directive(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    directive: &Directive,
    repetition: PromptRepetition,
) -> ResolvedDirective {
    ResolvedDirective {
        verb: directive.verb,
        target: directive.target.clone(),
        entity: match directive.verb {
            Verb::Off
            | Verb::On
            | Verb::External
            | Verb::Goal
            | Verb::Clear
            | Verb::Signal
            | Verb::Unknown => Err(Reason::TargetMissing),
            verb if verb.is_about_tools() || verb.concerns_record(&directive.target) => {
                Err(Reason::TargetMissing)
            }
            _ => target_entity(view, at, &directive.target),
        },
        repetition,
    }
}

/// The entity that a target names. A file name may itself contain `::`: a tracked file is preferred to the first split.
fn target_entity(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    target: &str,
) -> Result<EntityId, Reason> {
    if target.is_empty() {
        return Err(Reason::TargetMissing);
    }
    let usable = |path| place::of(view, at, path);
    let mut splits = target
        .match_indices("::")
        .map(|(at, mark)| (&target[..at], Some(&target[at + mark.len()..])));
    let first = splits.clone().next().unwrap_or((target, None));
    let is_tracked = |path| usable(path).is_ok_and(|path| view.state.state_map().tracks(&path));
    let known = if is_tracked(target) {
        Some((target, None))
    } else {
        splits.find(|(path, _)| is_tracked(path))
    };
    let (path, symbol) = known.unwrap_or(first);
    match usable(path) {
        Ok(path) => Ok(EntityId {
            path,
            symbol: symbol.map(Symbol::new),
        }),
        Err(Reason::PathEscapesWorkspace) => Err(Reason::TargetOutside),
        Err(_) => Err(Reason::TargetNotUsable),
    }
}

/// Whether an agent's call may have given this command at a terminal. `t=tslp; $t confirm a.c::f` in one of the newest calls may have given
/// `tslp confirm a.c::f`; while a shell that decodes its text hasn't come back, any command may be its. What an older script does isn't seen.
#[must_use]
pub fn is_agents_act(view: &StateView<'_>, at: UnixMillis, verb: Verb, target: &str) -> bool {
    let lets_more = matches!(
        verb,
        Verb::Accept | Verb::Confirm | Verb::On | Verb::Unlock | Verb::Allow | Verb::Resume
    );
    lets_more && is_said_by_call(view, at, verb.as_str(), target)
}

/// The same for any command of the command line, by its name.
#[must_use]
pub fn is_said_by_call(view: &StateView<'_>, at: UnixMillis, verb: &str, target: &str) -> bool {
    let text = |content| view.text(content).unwrap_or_default();
    let runs_hidden = |call: &ClientCallRow| {
        let scripts = || shell_scripts(&text(call.arguments)).into_iter();
        call.result.is_none()
            && at.0.abs_diff(call.asked_at.0) < AT_WORK_MILLIS
            && scripts().any(|it| hides_words(&it))
    };
    let mut calls = view.state.provenance().texts_after(None);
    view.state.at_hand().calls().any(runs_hidden)
        || calls.any(|call| call.author == Author::Call && says(&text(call.text), verb, target))
}

/// What a call's arguments have a shell or an interpreter run.
fn shell_scripts(arguments: &str) -> Vec<String> {
    let parts = call_parts("", arguments).into_iter();
    let scripts = parts.filter(|(part, _)| matches!(part, CallPart::Shell | CallPart::Code));
    scripts.map(|(_, text)| text).collect()
}

/// What lets a shell's line say more than is written there: variables, what a command prints, encoded text.
const HIDING_MARKS: [&str; 9] = [
    "$", "`", "<(", "<<<", "base64", "base32", "xxd", "openssl", "eval",
];

fn hides_words(script: &str) -> bool {
    HIDING_MARKS.iter().any(|it| script.contains(it))
}

/// Whether a call's arguments hold a command of tslp's, in a script that it writes, too. Words are compared without quotes and escapes, paths
/// by their last name.
fn says(arguments: &str, verb: &str, target: &str) -> bool {
    let (path, symbol) = target.split_once("::").unwrap_or((target, ""));
    let name = path.rsplit('/').next().unwrap_or_default();
    let wanted = letters(if symbol.is_empty() { name } else { symbol });
    let has_verb = |text: &str| {
        let text = text.replace(['"', '\'', '\\'], "");
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word.eq_ignore_ascii_case(verb))
    };
    let names = |text: &str| letters(text).contains(&wanted);
    let is_command = |text: &str| {
        // A shell's pattern may match any name.
        let stands_for_names = text.contains(['*', '?']) || text.contains("xargs");
        has_verb(text) && letters(text).contains("tslp") && (names(text) || stands_for_names)
    };
    let holds = |text: &str| text.split([';', '|', '&', '\n']).any(is_command);
    // In pieces that a variable or another program puts together.
    let puts_together = |script: &String| {
        let names_it = !wanted.is_empty() && names(script);
        hides_words(script) && (is_command(script) || has_verb(script) && names_it)
    };
    let scripts = shell_scripts(arguments);
    holds(&arguments.replace("\\n", "\n"))
        || scripts.iter().any(|it| holds(it) || puts_together(it))
}

/// The answers to lines that read as directives and aren't, each with the entity that it names.
#[must_use]
pub fn refuse_directives(
    ids: (EpisodeId, SessionId),
    refused: &[(Reason, Option<EntityId>)],
) -> Vec<Event> {
    let notices = refused.iter();
    let notices = notices.map(|(reason, entity)| NoticeIssued::new(ids, *reason, entity.clone()));
    notices.map(Event::NoticeIssued).collect()
}

/// Carries one directive out. `file` is the file's text, for [`Verb::Accept`]. The state must already hold an observation
/// of the file, made in this episode.
#[must_use]
pub fn carry_out_directive(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    (episode, session): (EpisodeId, SessionId),
    directive: &ResolvedDirective,
    file: FileText,
) -> Vec<Event> {
    let (mut events, reason) = match (directive.verb, &directive.entity) {
        (Verb::Unknown, _) => (Vec::new(), Some(Reason::UnknownDirective)),
        (Verb::External, _) => (Vec::new(), Some(Reason::ExternalAnswer)),
        (_, Err(reason)) => (Vec::new(), Some(*reason)),
        (Verb::Accept, Ok(entity)) => {
            let accepted = (entity, directive.repetition);
            accept_from_disk(view, grammars, (episode, session), accepted, file)
        }
        (Verb::Reject, Ok(entity)) => reject_proposals(view, entity),
        // The proposal that waits now may be another one than the user confirmed when the prompt was first sent.
        (Verb::Confirm, Ok(_)) if directive.repetition == PromptRepetition::Regenerated => {
            (Vec::new(), Some(Reason::NothingToDo))
        }
        (Verb::Confirm, Ok(entity)) => confirm_proposal(view, grammars, entity),
        (_, Ok(_)) => {
            unreachable!("what is said about tools, scope and records is carried out elsewhere")
        }
    };
    events.extend(reason.map(|reason| {
        Event::NoticeIssued(NoticeIssued::new(
            (episode, session),
            reason,
            directive.entity.clone().ok(),
        ))
    }));
    events
}

/// The events, and the reason for the notice that answers; `None` where the events already hold a notice.
pub(crate) type EventsAndNotice = (Vec<Event>, Option<Reason>);

pub(crate) fn accept_from_disk(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    (episode, session): (EpisodeId, SessionId),
    (entity, said): (&EntityId, PromptRepetition),
    file: FileText,
) -> EventsAndNotice {
    let text = match file {
        None => {
            let gone = match &entity.symbol {
                Some(_) => Vec::from([entity.clone()]),
                None => hydrate::true_entities_of(view, &entity.path),
            };
            return match accept_deletion(view, &gone) {
                events if events.is_empty() => (events, Some(Reason::FileMissing)),
                events => (events, Some(Reason::DeletionAccepted)),
            };
        }
        // The observation could read the bytes, so it is UTF-8 that failed.
        Some(Err(ReadFailure::Failed))
            if matches!(view.disk_finding(&entity.path), Some(LastFinding::File(_))) =>
        {
            return (Vec::new(), Some(Reason::NotText));
        }
        Some(Err(_)) => return (Vec::new(), Some(Reason::FileUnreadable)),
        Some(Ok(text)) => text,
    };
    let mut found = found_code::code_of_file(grammars, entity.path.clone(), &text);
    let defines_nothing = found.is_clean() && found.symbols().is_empty();
    if entity.symbol.is_none() && defines_nothing && !text.trim().is_empty() {
        // A header of prototypes alone: it counts as a whole, like what no grammar reads.
        found.extraction = Err(Reason::NoGrammar);
    }
    if said == PromptRepetition::Regenerated && view.artifact_is_current(found.artifact).is_none() {
        // Nothing of these bytes was ever true: disk has changed since the user accepted it.
        return (Vec::new(), Some(Reason::NothingToDo));
    }
    // Taken out of its class it would leave that at odds with it.
    let reader = CodeReader {
        view,
        grammars,
        at: Standpoint { root: "", session },
        session: None,
    };
    let fitted = reader.parts_in_their_file(&found, &BTreeSet::from([entity.clone()]));
    let place = CodeSource::Disk(entity.symbol.clone().filter(|_| fitted.is_none()));
    let found = fitted.unwrap_or(found);
    let mut events = write_head::write_head(
        view,
        Thresholds::default(),
        (episode, session),
        &found,
        &MessagePieces::default(),
        &place,
    );
    let has = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    let promotes = has(
        |event| matches!(event, Event::Transitioned(moved) if moved.transition == Transition::Promote),
    );
    let symbol = entity.symbol.as_ref();
    let reason = if promotes {
        Some(Reason::UserAccepted)
    } else if let Some(reason) = unfit_for_acceptance(&found, symbol) {
        // The notices of `write_head` are worded for code in a conversation, not for a file.
        events.retain(|event| !matches!(event, Event::NoticeIssued(_)));
        Some(reason)
    } else if has(|event| matches!(event, Event::NoticeIssued(_))) {
        None
    } else if symbol.is_some_and(|symbol| !found.symbols().contains(symbol)) {
        let removed = match found.is_clean() {
            true => accept_deletion(view, core::slice::from_ref(entity)),
            // What isn't parsed cleanly proves nothing gone.
            false => Vec::new(),
        };
        let is_removed = !removed.is_empty();
        events.extend(removed);
        Some(if is_removed {
            Reason::DeletionAccepted
        } else {
            Reason::SymbolMissing
        })
    } else {
        Some(Reason::NothingToDo)
    };
    (events, reason)
}

/// Removes those of the entities that are true and gone from disk.
fn accept_deletion(view: &StateView<'_>, gone: &[EntityId]) -> Vec<Event> {
    let mut recorder = Recorder::new(view);
    let is_gone = |entity: &&EntityId| {
        view.divergence(entity).is_some() && observe::slice_on_disk(view, entity).is_none()
    };
    let leaving: Vec<&EntityId> = gone.iter().filter(is_gone).collect();
    for of_file in leaving.chunk_by(|one, next| one.path == next.path) {
        // A part that is gone takes what holds it with it, and what was proposed of the file.
        let file = EntityId::file(of_file[0].path.clone());
        if !gone.contains(&file) {
            let moved = of_file.iter().copied();
            holders::supersede_holders(&mut recorder, Origin::User, moved);
            let cause = Reason::ProposalOverruled;
            promote::discard_proposals(&mut recorder, Origin::User, &file, cause, None);
        }
    }
    for entity in leaving {
        promote::remove_entity(&mut recorder, entity.clone(), Reason::DeletionAccepted);
    }
    recorder.into_events()
}

/// The reason why no code of a file can be accepted, if it concerns the file as a whole.
fn unfit_for_acceptance(found: &FoundCode, symbol: Option<&Symbol>) -> Option<Reason> {
    match &found.extraction {
        Err(Reason::TooLargeToParse) => Some(Reason::TooLargeToAccept),
        Err(Reason::NoGrammar) if symbol.is_some() => Some(Reason::LanguageNotRead),
        Err(Reason::ParseErrors) => Some(Reason::NothingToAccept),
        Ok(_) if !found.defines_something() => Some(Reason::NothingToAccept),
        _ => None,
    }
}

fn reject_proposals(view: &StateView<'_>, entity: &EntityId) -> EventsAndNotice {
    let mut recorder = Recorder::new(view);
    promote::discard_proposals(
        &mut recorder,
        Origin::User,
        entity,
        Reason::UserRejected,
        None,
    );
    let events = recorder.into_events();
    // Who rejects what contradicts the older version keeps that.
    let mut entities = hydrate::true_entities_of(view, &entity.path).into_iter();
    let is_contradicted = entities.any(|it| {
        let is_meant = entity.symbol.is_none() || it == *entity;
        is_meant && view.divergence(&it) == Some(Divergence::Contradicted)
    });
    let reason = if events.is_empty() && !is_contradicted {
        Reason::NothingToDo
    } else {
        Reason::UserRejected
    };
    (events, Some(reason))
}

fn confirm_proposal(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    entity: &EntityId,
) -> EventsAndNotice {
    let mut proposals = view.proposals_for(entity);
    if proposals.is_empty() {
        // A definition that goes has no new version: what goes without it is confirmed.
        proposals = view.proposals_under(&entity.path);
        proposals.retain(|it| lost_with(view, grammars, it).contains(entity));
    }
    let newest = proposals.iter().rfind(|proposal| is_confirmable(proposal));
    let block = newest.map(|it| BlockOfProposal::of(view, it, is_confirmable));
    let Some(block) = block.filter(|block| block.parts.iter().all(is_confirmable)) else {
        let reason = if proposals.is_empty() {
            Reason::NothingToDo
        } else {
            Reason::NotConfirmable
        };
        return (Vec::new(), Some(reason));
    };
    let mut recorder = Recorder::new(view);
    let is_around = [false, true].into_iter();
    let proposals = is_around.zip([&block.parts, &block.around]);
    let proposals =
        proposals.flat_map(|(is_around, them)| them.iter().map(move |it| (is_around, it)));
    for (is_around, proposal) in proposals.clone() {
        let mut report = proposal
            .report
            .clone()
            .expect("a confirmable proposal was judged");
        report.verdicts.push(Verdict {
            rule: Reason::UserConfirmed,
            met: true,
            seen: 1,
            needed: 1,
        });
        let disk = disk_verdict(view, &proposal.entity, proposal.slice);
        report.set_parts_alone(is_around && disk == DiskVerdict::Stale);
        report.conclusion = Some(Reason::UserConfirmed);
        report.passed = true;
        let version = (proposal.version, &proposal.entity);
        promote::promote(&mut recorder, Origin::User, version, report);
    }
    let renamed = proposals
        .clone()
        .filter_map(|(_, it)| it.rename_of.as_ref());
    let renamed: BTreeSet<&EntityId> = renamed.collect();
    let lost = proposals
        .clone()
        .flat_map(|(_, it)| lost_with(view, grammars, it));
    let lost: BTreeSet<EntityId> = lost.collect();
    let moved = proposals.map(|(_, it)| &it.entity);
    holders::supersede_holders(
        &mut recorder,
        Origin::User,
        moved.chain(renamed.iter().copied()).chain(&lost),
    );
    holders::supersede(&mut recorder, Origin::User, block.at_odds);
    for known in renamed.into_iter().chain(&lost) {
        // What holds a part that goes has stepped down already.
        if recorder.current_version_id(known).is_some() {
            promote::remove_entity(&mut recorder, known.clone(), Reason::UserConfirmed);
        }
    }
    (recorder.into_events(), Some(Reason::UserConfirmed))
}

/// The definitions that a proposal is refused for, since it lacks them.
fn lost_with(view: &StateView<'_>, grammars: &dyn Grammars, proposal: &Proposal) -> Vec<EntityId> {
    let around = &proposal.entity;
    if proposal.refused_for() != Some(Reason::SymbolsLost) {
        return Vec::new();
    }
    let text = view.text(proposal.artifact);
    let language = grammars.language_of_path(&around.path);
    let extraction = text.zip(language).and_then(|(text, language)| {
        let read = grammars.extract(language, text.as_bytes());
        read.ok()
    });
    let missing = extraction
        .iter()
        .flat_map(|read| lost::missing_definitions(view, &around.path, read));
    let is_within =
        |it: &EntityId| around.symbol.is_none() || it.holders().any(|holder| holder == *around);
    missing.filter(is_within).collect()
}

fn is_confirmable(proposal: &Proposal) -> bool {
    let report = proposal.report.as_ref();
    report.is_some_and(GateReport::is_left_to_user)
}
