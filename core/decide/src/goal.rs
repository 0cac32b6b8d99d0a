//! Goals, and what a conversation that begins anew is told while there is one (docs/memory.md).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::artifact::Origin;
use tslp_core::capture;
use tslp_core::delimiter::{self, RECOVERY_CLOSE, RECOVERY_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, GoalChanged, NoticeIssued, Recorded, ReplyOutcome};
use tslp_core::first_words;
use tslp_core::goal::{self, GoalChange};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::limits::BYTES_PER_TOKEN;
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::goal::lines;
use tslp_projections::state::StateView;

use super::hydrate;
use crate::prompt_facts::RecordedSight;

/// How long a conversation that waits for its tools counts as at work, in milliseconds: few commands take longer.
pub const AT_WORK_MILLIS: u64 = 10 * 60 * 1000;

/// Most tokens of what is told, its delimiters left out.
const RECOVERY_TOKENS_MAX: usize = 100;

/// Files that are named as changed.
const CHANGED_MAX: usize = 4;

/// Carries out what the user says of the goal.
#[must_use]
pub fn change_goal(view: &StateView<'_>, ids: (EpisodeId, SessionId), said: &str) -> Vec<Event> {
    let answer = |reason| Event::NoticeIssued(NoticeIssued::new(ids, reason, None));
    let (change, text) = match goal::parse_goal(said) {
        Ok(said) => said,
        Err(reason) => return Vec::from([answer(reason)]),
    };
    let current = view.state.goal().text();
    let is_moot = match change {
        GoalChange::Set => current == Some(text.as_str()),
        GoalChange::Next | GoalChange::Question | GoalChange::Done => current.is_none(),
    };
    if is_moot {
        return Vec::from([answer(Reason::NothingToDo)]);
    }
    let changed = Event::GoalChanged(GoalChanged { change, text });
    Vec::from([changed, answer(Reason::GoalChanged)])
}

/// Whether a conversation isn't told of the goal because of what is on record of its prompt: it is a subagent's, whose task is the
/// model's to say, or the prompt itself says what the goal is.
#[must_use]
pub fn leaves_nothing_to_tell(recorded: &Recorded) -> bool {
    match &recorded.event {
        Event::AuthorFound(found) => found.opens_subagent,
        Event::NoticeIssued(notice) => notice.reason == Reason::GoalChanged,
        _ => false,
    }
}

/// Tells a conversation that begins what the work is for, if there is a goal, or where it goes on, if the last one was left unfinished,
/// and a client's hook hasn't told it.
#[must_use]
pub fn tell(
    view: &StateView<'_>,
    at: UnixMillis,
    ids: (EpisodeId, SessionId),
    request: &Request,
    seen: Option<&RecordedSight>,
) -> Vec<Event> {
    // The record lacks messages that were known before, so it says itself whether the conversation began.
    let is_told = match seen {
        Some(seen) => seen.noticed.contains(&(Reason::GoalTold, None)),
        None => {
            opens_conversation(view, ids, request)
                && (view.state.goal().text().is_some() || goes_on(view, at, ids.1, request))
        }
    };
    let told = NoticeIssued::new(ids, Reason::GoalTold, None);
    let told = is_told.then_some(Event::NoticeIssued(told));
    told.into_iter().collect()
}

/// Whether an agent's conversation that begins goes on with another one's work: that was left unfinished, and nobody is at work there.
/// Plain chats are each about something else.
fn goes_on(view: &StateView<'_>, at: UnixMillis, begun: SessionId, request: &Request) -> bool {
    let Some(last) = last_of_another(view, begun).filter(|_| request.tools != Tools::None) else {
        return false;
    };
    let left = || view.state.sessions().left_undone(last.session);
    let is_over = || {
        view.state.signals().last_end() > last.seq
            || at.0.abs_diff(last.at_ms.0) >= AT_WORK_MILLIS
            || is_after_compaction(request)
    };
    let is_unfinished = match last.outcome {
        // Its client or the proxy has ended in the middle of the reply.
        Some(ReplyOutcome::ClientGone | ReplyOutcome::Interrupted) => true,
        Some(ReplyOutcome::Completed) => left() && is_over(),
        _ => false,
    };
    is_unfinished && !whole_work_in(view, last.session).is_empty()
}

/// The last episode of another conversation than the one that begins.
fn last_of_another<'v>(view: &StateView<'v>, begun: SessionId) -> Option<&'v EpisodeRow> {
    let is_another = |row: &&EpisodeRow| ![SessionId(0), begun].contains(&row.session);
    view.state.episodes().iter().rev().find(is_another)
}

/// Whether the conversation begins with its client's summary of what it held before.
fn is_after_compaction(request: &Request) -> bool {
    let mut users = request.messages.iter().filter(|it| it.role == Role::User);
    users.any(|message| {
        message
            .parts
            .iter()
            .any(|part| capture::begins_with_summary(part))
    })
}

/// Whether nothing was said before in the conversation.
fn opens_conversation(
    view: &StateView<'_>,
    (episode, session): (EpisodeId, SessionId),
    request: &Request,
) -> bool {
    let is_answer = |role| matches!(role, Role::Assistant | Role::Tool);
    let says_it = |text: &String| text.contains(RECOVERY_OPEN);
    let mut messages = request.messages.iter();
    let mut episodes = view.state.episodes().iter();
    !messages.any(|it| is_answer(it.role) || it.parts.iter().any(says_it))
        && !episodes.any(|row| row.session == session && row.episode != episode)
}

/// What a conversation is told of the work; `None` if there is nothing to tell.
pub(super) fn recovery_block(view: &StateView<'_>, session: SessionId) -> Option<String> {
    let rows: Vec<_> = view.state.goal().rows().collect();
    let said: Vec<String> = lines(rows.into_iter())
        .chain(last_work(view, session))
        .collect();
    (!said.is_empty()).then(|| block_of(said.into_iter()))
}

/// What a conversation is told in the place of the messages that were cleared.
pub(super) fn block_after_clear(view: &StateView<'_>, session: SessionId) -> String {
    let cleared = String::from("The user cleared the earlier messages of this conversation.");
    let rows: Vec<_> = view.state.goal().rows().collect();
    let said = lines(rows.into_iter());
    let work = work_in(view, session, &[]).into_iter();
    block_of(
        [cleared]
            .into_iter()
            .chain(said)
            .chain(work)
            .chain(changed_in(view, session)),
    )
}

/// The block that tells a conversation of the work, out of lines of which the most useful come first.
#[must_use]
pub fn block_of(lines: impl Iterator<Item = String>) -> String {
    let told = lines_within(lines, RECOVERY_TOKENS_MAX);
    let told = delimiter::defused(&told.join("\n")).into_owned();
    format!("{RECOVERY_OPEN}\n{told}\n{RECOVERY_CLOSE}")
}

/// Whole lines, as many as so many tokens hold.
#[must_use]
pub fn lines_within(lines: impl Iterator<Item = String>, tokens_max: usize) -> Vec<String> {
    let mut left = tokens_max * BYTES_PER_TOKEN;
    let fitting = lines.filter(|line| {
        let fits = line.len() < left;
        left -= if fits { line.len() + 1 } else { 0 };
        fits
    });
    fitting.collect()
}

/// The work of another conversation than the one that begins.
fn last_work(view: &StateView<'_>, begun: SessionId) -> Vec<String> {
    let last = last_of_another(view, begun);
    last.map_or_else(Vec::new, |last| whole_work_in(view, last.session))
}

/// The files that a conversation has changed, as far as that is true.
fn changed_in(view: &StateView<'_>, session: SessionId) -> Option<String> {
    let is_off = |path: &RelPath| view.state.scope().off().is_off(path.as_str());
    let of_session = |path: &&RelPath| {
        let mut entities = hydrate::true_entities_of(view, path).into_iter();
        let is_own = |entity: &EntityId| {
            let current = view.current_version(entity);
            current.is_some_and(|current| {
                let sessions = view.state.sessions();
                current.origin == Origin::Model
                    && sessions.reply_position(session, current.episode).is_some()
            })
        };
        !is_off(path) && entities.any(|entity| is_own(&entity))
    };
    let changed = view.state.state_map().paths().filter(of_session);
    let changed: Vec<&str> = changed.take(CHANGED_MAX).map(RelPath::as_str).collect();
    (!changed.is_empty()).then(|| format!("Changed: {}", changed.join(", ")))
}

/// The work of a conversation, with its prompt whose reply hasn't come to its end.
fn whole_work_in(view: &StateView<'_>, session: SessionId) -> Vec<String> {
    work_in(view, session, view.state.sessions().open_texts(session))
}

/// What was asked last in a conversation, and which of its changes were refused. `open` are the texts of a later prompt.
fn work_in(view: &StateView<'_>, session: SessionId, open: &[ArtifactHash]) -> Vec<String> {
    let exchanges = view.state.sessions().recent_exchanges(session);
    let answered = exchanges.iter().rev().map(|exchange| &exchange.user[..]);
    let asked = [open].into_iter().chain(answered).find_map(|texts| {
        let mut words = texts.iter().filter_map(|content| {
            let text = view.artifact_content(*content)?;
            Some(first_words::first_words(&String::from_utf8_lossy(&text)))
        });
        words.find(|words| !words.is_empty())
    });
    let mut lines: Vec<String> = Vec::new();
    lines.extend(asked.map(|words| format!("Asked last: {words}")));
    let refused = view.state.sessions().refused_files(session).into_iter();
    let refused = refused.filter(|path| !view.state.scope().off().is_off(path.as_str()));
    lines.extend(refused.map(|path| format!("In flight: a change of {path} was refused")));
    lines
}
