//! Goals, and what a conversation that begins anew is told while there is one (docs/memory.md).

use alloc::collections::BTreeSet;
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
use tslp_core::outgoing::Outgoing;
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::request::Request;
use tslp_projections::at_hand::AskedRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::goal::lines;
use tslp_projections::state::StateView;

use crate::prompt::facts::{Prompt, RecordedSight};
use crate::prompt::hydrate;
use crate::prompt::last_runs::{Run, last_runs};
use crate::prompt::mention::Mentions;
use crate::prompt::records;

/// How long a conversation that waits for its tools counts as at work, in milliseconds: few commands take longer.
pub const AT_WORK_MILLIS: u64 = 10 * 60 * 1000;

/// Most tokens of what is told, its delimiters left out.
const RECOVERY_TOKENS_MAX: usize = 100;

/// Files that are named as changed, or changes as refused.
const NAMED_MAX: usize = 4;

/// A prompt of fewer words says little.
const WORDS_MIN: usize = 4;

/// Where work stands.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The user's last prompt, its first words, and those of the last one that says more, where it says little.
    pub asked: Option<(AskedRow, String, Option<String>)>,
    /// Whether the last reply broke off, or asked for tools whose results never came.
    pub is_broken_off: bool,
    /// Changes of the model's that were refused, and why.
    pub in_flight: Vec<(EntityId, Reason)>,
    /// The last test run.
    pub test: Option<Run>,
    /// The last build.
    pub build: Option<Run>,
}

impl Work {
    /// In words, the most useful first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let asked = self.asked.iter().map(|(_, words, before)| {
            let before = before.as_ref().map(|it| format!(" (before: {it})"));
            format!("Asked last: {words}{}", before.unwrap_or_default())
        });
        let broken_off = self.is_broken_off.then(|| BROKEN_OFF.into());
        let refused = self.in_flight.iter();
        let refused = refused
            .map(|(entity, reason)| format!("In flight: {entity} refused ({})", reason.code()));
        let test = self.test.iter().map(|run| run.line("Last test run"));
        let build = self.build.iter().map(|run| run.line("Last build"));
        let lines = asked.chain(broken_off).chain(refused);
        lines.chain(test).chain(build).collect()
    }

    /// Whether a change was refused, or one of these runs has failed.
    #[must_use]
    pub fn is_left(&self, is_meant: impl Fn(&Run) -> bool) -> bool {
        let mut runs = self.test.iter().chain(&self.build);
        !self.in_flight.is_empty() || runs.any(|run| run.has_failed() && is_meant(run))
    }
}

const BROKEN_OFF: &str = "The last reply did not come to its end.";

/// Carries out what the user says of the goal.
#[must_use]
pub fn change_goal(view: &StateView<'_>, ids: (EpisodeId, SessionId), said: &str) -> Vec<Event> {
    let answer = |reason| Event::NoticeIssued(NoticeIssued::new(ids, reason, None));
    let (change, text) = match goal::parse_goal(said) {
        Ok(said) => said,
        Err(reason) => return Vec::from([answer(reason)]),
    };
    let current = view.state.goal().current();
    let is_moot = match change {
        GoalChange::Set => current.is_some_and(|goal| goal.text == text),
        _ => current.is_none(),
    };
    if is_moot {
        return Vec::from([answer(Reason::NothingToDo)]);
    }
    let mut events = match change {
        GoalChange::Set | GoalChange::Done => records::end_hypotheses(view),
        _ => Vec::new(),
    };
    events.push(Event::GoalChanged(GoalChanged { change, text }));
    events.push(answer(Reason::GoalChanged));
    events
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
    mentions: &Mentions,
    seen: Option<&RecordedSight>,
) -> Vec<Event> {
    // The record lacks messages that were known before, so it says itself whether the conversation began.
    let is_told = match seen {
        Some(seen) => seen.noticed.contains(&(Reason::GoalTold, None)),
        None => {
            opens_conversation(view, ids, request)
                && (view.state.goal().current().is_some()
                    || goes_on(view, at, ids.1, request, mentions))
        }
    };
    let told = NoticeIssued::new(ids, Reason::GoalTold, None);
    let told = is_told.then_some(Event::NoticeIssued(told));
    told.into_iter().collect()
}

/// Whether a conversation that begins goes on with another one's work: that was left unfinished, and nobody is at work there. An agent
/// of this workspace does; a plain chat if it is about the same files.
fn goes_on(
    view: &StateView<'_>,
    at: UnixMillis,
    begun: SessionId,
    request: &Request,
    mentions: &Mentions,
) -> bool {
    let Some(last) = last_work(view, begun, request.tools, mentions) else {
        return false;
    };
    let work = left_work(view, last);
    let is_unfinished = match last.outcome {
        // Its client or the proxy has ended in the middle of the reply.
        Some(ReplyOutcome::ClientGone | ReplyOutcome::Interrupted) => true,
        // The tools that it asked for may still run.
        Some(ReplyOutcome::Completed) if view.state.at_hand().awaits(last.session) => {
            view.state.signals().last_end() > last.seq
                || at.0.abs_diff(last.at_ms.0) >= AT_WORK_MILLIS
                || is_after_compaction(request)
        }
        Some(ReplyOutcome::Completed) => work.is_left(|run| run.session == last.session),
        _ => false,
    };
    is_unfinished && work.asked.is_some()
}

/// Whether a prompt names a file, or something in one, that was named or shown in a conversation.
fn is_about(view: &StateView<'_>, session: SessionId, mentions: &Mentions) -> bool {
    let symbols = mentions.symbols.iter().map(|entity| &entity.path);
    let named: BTreeSet<&RelPath> = mentions.files.iter().chain(symbols).collect();
    if named.is_empty() {
        return false;
    }
    let mut shown = view.state.sessions().hydration_order(session).into_iter();
    let asked = view.state.at_hand().asked();
    let mut asked = asked.filter(|row| row.session == session);
    shown.any(|entity| named.contains(&entity.path))
        || asked.any(|row| {
            let text = view.text(row.text).unwrap_or_default();
            named.iter().any(|path| text.contains(path.as_str()))
        })
}

/// The last episode of another conversation that one goes on with which begins: an agent, or where there is a goal any, with the last
/// one; a plain chat with the last one about the same files.
fn last_work<'v>(
    view: &StateView<'v>,
    begun: SessionId,
    tools: Tools,
    mentions: &Mentions,
) -> Option<&'v EpisodeRow> {
    let is_any = tools.read_files() || view.state.goal().current().is_some();
    let asked = view.state.at_hand().asked().map(|row| row.session);
    let asked: BTreeSet<SessionId> = asked.filter(|session| *session != begun).collect();
    let is_meant = |session: &SessionId| is_any || is_about(view, *session, mentions);
    let meant: BTreeSet<SessionId> = asked.into_iter().filter(is_meant).collect();
    if meant.is_empty() {
        return None;
    }
    let mut episodes = view.state.episodes().iter().rev();
    episodes.find(|row| meant.contains(&row.session))
}

/// Whether the conversation begins with its client's summary of what it held before.
fn is_after_compaction(request: &Request) -> bool {
    let users = request.messages.iter().filter(|it| it.role == Role::User);
    let mut texts = users.flat_map(|it| &it.parts);
    texts.any(|text| capture::begins_with_summary(text))
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
pub(crate) fn recovery_block(view: &StateView<'_>, prompt: &Prompt<'_>) -> Option<String> {
    let last = last_work(view, prompt.session, prompt.request.tools, prompt.mentions);
    let said = lines(view.state.goal().rows());
    let left = last
        .into_iter()
        .flat_map(|last| left_work(view, last).lines());
    let said: Vec<String> = said.chain(left).collect();
    (!said.is_empty()).then(|| block_of(said.into_iter()))
}

/// What a conversation is told in the place of the messages that were cleared.
pub(crate) fn block_after_clear(view: &StateView<'_>, session: SessionId) -> String {
    let cleared = String::from("The user cleared the earlier messages of this conversation.");
    let said = lines(view.state.goal().rows());
    let asked = view.state.at_hand().asked().next_back();
    let is_before = |it: &AskedRow| {
        it.session == session && asked.is_none_or(|asked| asked.episode != it.episode)
    };
    let work = work_in(view, session, is_before).lines();
    let told = [cleared].into_iter().chain(said).chain(work);
    block_of(told.chain(changed_in(view, session)))
}

/// The block that tells a conversation of the work, out of lines of which the most useful come first.
#[must_use]
pub fn block_of(lines: impl Iterator<Item = String>) -> String {
    let told = lines_within(lines, RECOVERY_TOKENS_MAX);
    let told = delimiter::defused(&told.join("\n")).into_owned();
    format!("{RECOVERY_OPEN}\n{told}\n{RECOVERY_CLOSE}")
}

/// Leaves out a block that an earlier message holds word for word: a client that resumes a conversation and compacts it at once asks its
/// hooks twice. The first stays where it was.
pub fn say_once(outgoing: &mut Outgoing) {
    let opening = delimiter::defused(RECOVERY_OPEN);
    let mut told: BTreeSet<String> = BTreeSet::new();
    let texts = outgoing
        .messages
        .iter_mut()
        .flat_map(|it| &mut it.rewritten);
    for (_, text) in texts.filter(|(_, text)| text.starts_with(&*opening)) {
        if !told.insert(text.clone()) {
            *text = String::from("(As above.)");
        }
    }
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
    let changed: Vec<&str> = changed.take(NAMED_MAX).map(RelPath::as_str).collect();
    (!changed.is_empty()).then(|| format!("Changed: {}", changed.join(", ")))
}

/// Where the work stands after an episode of a conversation.
#[must_use]
pub fn left_work(view: &StateView<'_>, last: &EpisodeRow) -> Work {
    let is_over = last.outcome == Some(ReplyOutcome::Completed);
    Work {
        is_broken_off: !is_over || view.state.at_hand().awaits(last.session),
        ..work_in(view, last.session, |it| it.episode <= last.episode)
    }
}

/// What was asked last, which changes of a conversation were refused, and how the last runs ended. `is_meant` are prompts of it.
fn work_in(view: &StateView<'_>, session: SessionId, is_meant: impl Fn(&AskedRow) -> bool) -> Work {
    let text = |content| view.text(content);
    let asked = view.state.at_hand().asked().rev().filter(|it| is_meant(it));
    let refused = view.state.sessions().refused_files(session).into_iter();
    let refused = refused.filter(|path| !view.state.scope().off().is_off(path.as_str()));
    let refused = refused.flat_map(|path| view.proposals_under(&path));
    let refused = refused.filter(|it| it.session == session && it.origin == Origin::Model);
    let refused = refused.filter_map(|it| {
        let reason = it
            .refused_for()
            .filter(|reason| !reason.is(ReasonClass::Unjudged))?;
        Some((it.entity.clone(), reason))
    });
    let refused: BTreeSet<(EntityId, Reason)> = refused.collect();
    let (build, test) = last_runs(view.state.at_hand().calls().rev(), &text);
    Work {
        asked: asked_last(asked, &text),
        is_broken_off: false,
        in_flight: refused.into_iter().take(NAMED_MAX).collect(),
        test,
        build,
    }
}

/// The newest of what was asked, of which the newest come first, with its first words; where it says as little as "Go on.", with those of
/// the last that says more. What a client says by itself, such as the summary of a conversation, is nobody's request.
pub fn asked_last<'r>(
    asked: impl Iterator<Item = &'r AskedRow>,
    text: &impl Fn(ArtifactHash) -> Option<String>,
) -> Option<(AskedRow, String, Option<String>)> {
    let mut asked = asked.filter_map(|row| {
        let text = text(row.text)?;
        let is_clients =
            capture::quotes_a_conversation(&text) || capture::begins_with_summary(&text);
        let words = first_words::first_words(&text);
        (!is_clients && !words.is_empty()).then_some((row, words))
    });
    let says_little = |words: &str| words.split_whitespace().count() < WORDS_MIN;
    let (row, words) = asked.next()?;
    let before = match says_little(&words) {
        true => asked.map(|(_, words)| words).find(|it| !says_little(it)),
        false => None,
    };
    Some((row.clone(), words, before))
}
