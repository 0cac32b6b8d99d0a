//! The user's words on which files a model may see, and whether a prompt may go out by them (docs/scope.md).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::prompt::hydrate;
use crate::prompt::receive::PromptRepetition;
use crate::scope::work::WithheldPrompt;
use crate::user::direct::{self, FileText, ResolvedDirective};
use crate::wording::notice;
use tslp_core::entity::EntityId;
use tslp_core::event::{DiskFinding, Event, NoticeIssued, ScopeChanged};
use tslp_core::extract::Grammars;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::scope::{self, RULES_MAX, ScopeChange};
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

/// All conversations.
const ALL: SessionId = SessionId(0);

/// Carries out `off`, `on`, `lock` or `unlock`. What is said of `off` and `on` holds in all conversations. A file of which nothing
/// is true is accepted by being locked; `file` is its text.
#[must_use]
pub fn change_scope(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    (episode, session): (EpisodeId, SessionId),
    change: ScopeChange,
    directive: &ResolvedDirective,
    file: FileText,
) -> Vec<Event> {
    let answer =
        |reason, entity| Event::NoticeIssued(NoticeIssued::new((episode, session), reason, entity));
    let rules = view.state.scope();
    let pattern = match (change, &directive.entity) {
        (ScopeChange::Off | ScopeChange::On, _) => scope::parse_pattern(&directive.target),
        (ScopeChange::Unlock, _) if directive.target.is_empty() => Ok(String::new()),
        (_, Ok(EntityId { path, symbol: None })) => Ok(String::from(path.as_str())),
        (_, Ok(_)) => Err(Reason::TargetNotUsable),
        (_, Err(reason)) => Err(*reason),
    };
    let pattern = match pattern {
        Ok(pattern) => pattern,
        Err(reason) => return Vec::from([answer(reason, None)]),
    };
    let about = (!pattern.is_empty()).then(|| EntityId::file(RelPath::from_normalised(&pattern)));
    let is_moot = match change {
        ScopeChange::On => rules.off().patterns().next().is_none(),
        ScopeChange::Unlock => !rules.is_locked(session, &pattern),
        ScopeChange::Off | ScopeChange::Lock => false,
    };
    if is_moot {
        return Vec::from([answer(Reason::NothingToDo, about)]);
    }
    if change != ScopeChange::Unlock && rules.rules().count() >= RULES_MAX {
        return Vec::from([answer(Reason::TooManyRules, about)]);
    }
    let mut events = Vec::new();
    if change == ScopeChange::Lock
        && let Some(file_entity) = &about
        && hydrate::true_entities_of(view, &file_entity.path).is_empty()
    {
        let accepted = (file_entity, PromptRepetition::First);
        let (accepted, _) =
            direct::accept_from_disk(view, grammars, (episode, session), accepted, file);
        let accepted = accepted.into_iter();
        events.extend(accepted.filter(|event| !matches!(event, Event::NoticeIssued(_))));
    }
    let (session, done) = match change {
        ScopeChange::Off => (ALL, Reason::TurnedOff),
        ScopeChange::On => (ALL, Reason::TurnedOn),
        ScopeChange::Lock => (session, Reason::Locked),
        ScopeChange::Unlock => (session, Reason::Unlocked),
    };
    events.push(Event::ScopeChanged(ScopeChanged {
        change,
        session,
        pattern,
    }));
    events.push(answer(done, about));
    events
}

/// Why a prompt can't go out with the files that are locked in a conversation: the first one that can't be shown whole, and why. Disk
/// says of them what the state holds, or what was `seen` since.
#[must_use]
pub fn lock_miss(
    view: &StateView<'_>,
    session: SessionId,
    seen: &[(RelPath, DiskFinding)],
) -> Option<WithheldPrompt> {
    let first = locks_missed(view, session, seen).into_iter().next();
    first.map(|(path, cause)| missed(&path, cause))
}

/// The files that are locked in a conversation and can't be shown whole, each with the cause.
#[must_use]
pub fn locks_missed(
    view: &StateView<'_>,
    session: SessionId,
    seen: &[(RelPath, DiskFinding)],
) -> Vec<(RelPath, &'static str)> {
    let locked = view.state.scope().locked(session).into_iter();
    let missed = locked.filter_map(|path| {
        let seen = seen.iter().find(|(other, _)| *other == path);
        let finding = seen
            .map(|(_, finding)| finding.into())
            .or(view.disk_finding(&path));
        let file = EntityId::file(path.clone());
        let cause = match finding {
            None | Some(LastFinding::Missing) => "it is not on disk",
            Some(LastFinding::Unreadable(_)) => notice::read_failure_text(finding),
            Some(LastFinding::File(_)) if hydrate::divergence_within(view, &file).is_some() => {
                "it is STALE: it holds what was not accepted (`tslp accept` takes it)"
            }
            Some(LastFinding::File(_)) if hydrate::true_entities_of(view, &path).is_empty() => {
                "nothing of it is accepted: it is no text that can be read, or is too large"
            }
            Some(LastFinding::File(_)) => return None,
        };
        Some((path, cause))
    });
    missed.collect()
}

/// The answer to a prompt that doesn't go out because a locked file can't be shown whole.
pub(crate) fn missed(path: &RelPath, cause: &str) -> WithheldPrompt {
    WithheldPrompt {
        reason: Reason::LockMiss,
        message: format!(
            "LOCK_MISS: {path} is locked, and {cause}, so the prompt was not sent. Say `tslp lock --none {path}` in a terminal or `@tslp unlock \
             {path}` in the prompt, lock another file, or mend this one."
        ),
    }
}
