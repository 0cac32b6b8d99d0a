//! Budgets and loops of agents: what is counted, when model and user are told, and when a prompt isn't sent (spec §8.5).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::budget::{Budget, Counter, WorkDone};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, NoticeIssued, Recorded, WindowExceeded, WorkCounted};
use tslp_core::guardian;
use tslp_core::ids::{EpisodeId, SessionId, UnixMillis};
use tslp_core::message::{Role, ToolCall};
use tslp_core::path::RelPath;
use tslp_core::policy::{ClientTools, Policy};
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_projections::goal;
use tslp_projections::state::StateView;
use tslp_projections::work::{GOAL, Repetition};

use crate::judge::found_code::FoundCode;

/// The same call with the same result so often is told.
const SAME_CALLS_TOLD: u32 = 3;

/// So many files that other hands have changed between two steps of an agent are asked about; of more the loop waits, where the
/// Guardian holds calls.
const CHANGED_ASKED: usize = 6;
const CHANGED_MAX: usize = 20;

/// A file that was refused so often in a row is told.
const REFUSALS_TOLD: u32 = 3;

/// Why a prompt isn't sent to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldPrompt {
    /// The rule.
    pub reason: Reason,
    /// What happened, and what the user can do.
    pub message: String,
}

impl WithheldPrompt {
    /// A prompt that its model wouldn't read to the end.
    #[must_use]
    pub fn too_long(exceeded: &WindowExceeded) -> Self {
        Self {
            reason: Reason::WindowExceeded,
            message: format!(
                "{} The prompt was not sent (`window.guard`).",
                exceeded.sentence()
            ),
        }
    }

    /// A prompt that is on record as not sent because it was too long, which only the serving program knew.
    #[must_use]
    pub fn on_record(noticed: &[(Reason, Option<EntityId>)]) -> Option<Self> {
        let reason = Reason::WindowExceeded;
        noticed.contains(&(reason, None)).then(|| Self {
            reason,
            message: String::new(),
        })
    }
}

/// A request that is about to be sent, as budgets see it.
#[derive(Clone, Copy, Debug)]
pub struct RequestToBill<'r> {
    /// The model that it asks.
    pub model: &'r str,
    /// Its tokens, estimated.
    pub tokens: u64,
}

impl RequestToBill<'_> {
    /// Tokens of a request that is on record: no more is known of it than whether it was too much.
    #[must_use]
    pub fn tokens_on_record(noticed: &[(Reason, Option<EntityId>)]) -> u64 {
        let was_refused = noticed.contains(&(Reason::AgentBudgetUsed, None));
        if was_refused { u64::from(u32::MAX) } else { 0 }
    }
}

/// What a reply has its client do, if a budget bounds that.
#[must_use]
pub fn count_work(
    view: &StateView<'_>,
    policy: &Policy,
    found: &[FoundCode],
    calls: &[ToolCall],
) -> Vec<Event> {
    let of_goal = goal::budget(view.state.goal().rows());
    let budgets = [&policy.budget_conversation, &policy.budget_day, &of_goal];
    let mut limits = budgets.into_iter().flat_map(Budget::limits);
    let is_bounded = limits.any(|(counter, _)| match counter {
        Counter::Files | Counter::Lines | Counter::Builds | Counter::Tests => true,
        Counter::Requests | Counter::Tokens | Counter::Minutes | Counter::Money => false,
    });
    if !is_bounded {
        return Vec::new();
    }
    let written = found.iter().filter(|found| found.usable_path().is_some());
    let lines = written.clone().map(|found| found.written_lines());
    let files: BTreeSet<_> = written.filter_map(FoundCode::usable_path).collect();
    let mut work = WorkCounted {
        files: files.into_iter().cloned().collect(),
        lines: lines.sum(),
        ..WorkCounted::default()
    };
    for call in calls {
        let (builds, tests) = guardian::builds_and_tests(&call.name, &call.arguments);
        work.builds += builds;
        work.tests += tests;
    }
    if work == WorkCounted::default() {
        return Vec::new();
    }
    Vec::from([Event::WorkCounted(work)])
}

/// How many of the files that were just looked at other hands have changed while an agent is at work.
#[must_use]
pub fn changed_meanwhile(view: &StateView<'_>, request: &Request, observed: &[Recorded]) -> usize {
    let last = request.messages.last();
    if last.is_none_or(|message| message.role != Role::Tool) {
        return 0;
    }
    let looked_at = observed
        .iter()
        .filter_map(|recorded| match &recorded.event {
            Event::DiskObserved(observed) => Some(&observed.path),
            _ => None,
        });
    let looked_at: BTreeSet<&RelPath> = looked_at.collect();
    let differing = view.state.stale().iter().map(|(entity, _)| &entity.path);
    let differing: BTreeSet<&RelPath> = differing.collect();
    looked_at.intersection(&differing).count()
}

/// What model and user are told of budgets and loops with a prompt.
#[must_use]
pub fn warn(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    (episode, session): (EpisodeId, SessionId),
    changed: usize,
) -> Vec<Event> {
    let work = view.state.work();
    let notice =
        |reason, entity| Event::NoticeIssued(NoticeIssued::new((episode, session), reason, entity));
    let is_near = |(_, _, done, limit): &UsedBudget| done.saturating_mul(10) >= limit * 9;
    let mut near = used(view, policy, at, session).into_iter().filter(is_near);
    let mut events = Vec::new();
    if near.next().is_some() && !work.is_told(session) {
        events.push(notice(Reason::BudgetNearlyUsed, None));
    }
    if changed >= CHANGED_ASKED {
        events.push(notice(Reason::ManyFilesChanged, None));
    }
    let Repetition { calls, refused } = work.repetition(session);
    if calls == SAME_CALLS_TOLD {
        events.push(notice(Reason::CallRepeated, None));
    }
    let often = refused
        .into_iter()
        .filter(|(_, times)| *times == REFUSALS_TOLD);
    events.extend(often.map(|(path, _)| notice(Reason::FileRewritten, Some(EntityId::file(path)))));
    events
}

/// Whether a prompt isn't sent: a budget is used up, or what was told of a loop didn't help and the Guardian holds calls.
#[must_use]
pub fn withheld(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    session: SessionId,
    changed: usize,
    request: RequestToBill<'_>,
) -> Option<WithheldPrompt> {
    let withheld = |reason, message| Some(WithheldPrompt { reason, message });
    let mut all = used(view, policy, at, session);
    let prompt = policy.budget_prompt.limits().iter();
    all.extend(prompt.map(|(counter, limit)| ("a prompt", *counter, 0, *limit)));
    // The request itself is counted already, what it takes isn't.
    let is_used_up = |(_, counter, done, limit): &UsedBudget| {
        let takes = match counter {
            Counter::Requests => return done > limit,
            Counter::Tokens => request.tokens,
            Counter::Money => policy.prices.cost(request.model, request.tokens, 0),
            _ => 0,
        };
        done >= limit || done.saturating_add(takes) > *limit
    };
    if let Some((whose, counter, done, limit)) = all.into_iter().find(is_used_up) {
        let way = match (whose, counter) {
            (_, Counter::Money) => {
                "The next day (UTC) begins anew; who wants to go on now raises `budget.day`."
            }
            ("the goal", _) => {
                "`tslp goal 'budget: …'` in a terminal, or `@tslp goal budget: …` as the first line of a prompt, allows more; `goal done` ends it."
            }
            ("a prompt", _) => "Begin a new conversation, or raise `budget.prompt`.",
            _ => {
                "`tslp resume` in a terminal, or `@tslp resume` as the first line of a prompt, gives it as much again."
            }
        };
        let (limit, done, tokens) = (counter.shown(limit), counter.shown(done), request.tokens);
        let message = format!(
            "BUDGET-EXHAUSTED: {whose} may use {limit} {counter}, and {done} are used; this prompt has about {tokens} tokens and was not sent. {way}"
        );
        return withheld(Reason::AgentBudgetUsed, message);
    }
    let Repetition { calls, refused } = view.state.work().repetition(session);
    if policy.client_tools != ClientTools::Strict {
        return None;
    }
    if changed > CHANGED_MAX {
        let message = format!(
            "DRIFT: {changed} files were changed by other hands since the agent's last step, so it was stopped. If that was meant, \
             say in a prompt that it shall go on."
        );
        return withheld(Reason::ManyFilesChanged, message);
    }
    let (reason, what) = if calls > SAME_CALLS_TOLD {
        let what = format!(
            "the model has made the same call {calls} times, with the same result each time"
        );
        (Reason::CallRepeated, what)
    } else {
        let (path, times) = refused
            .into_iter()
            .find(|(_, times)| *times > REFUSALS_TOLD)?;
        let what =
            format!("the model has written {path} {times} times, and nothing of it was accepted");
        (Reason::FileRewritten, what)
    };
    let message = format!(
        "RECURSIVE-LOOP: {what}, so the prompt was not sent. Say in a prompt what it shall do instead."
    );
    withheld(reason, message)
}

/// A bound and what is used of it: whose, what, how much, of how much.
type UsedBudget = (&'static str, Counter, u64, u64);

fn used(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    session: SessionId,
) -> Vec<UsedBudget> {
    let work = view.state.work();
    let of = |whose, budget: &Budget, done: WorkDone| {
        let limits = budget.limits().to_vec().into_iter();
        limits.map(move |(counter, limit)| match counter {
            Counter::Money => (whose, counter, money_of_day(view, policy, at), limit),
            _ => (whose, counter, done.of(counter), limit),
        })
    };
    let own = work.of_session(session);
    let of_goal = goal::budget(view.state.goal().rows());
    of("a conversation", &policy.budget_conversation, own)
        .chain(of("a day", &policy.budget_day, work.of_day(at)))
        .chain(of("the goal", &of_goal, work.of_session(GOAL)))
        .collect()
}

/// What was paid on the day of this moment, in millionths.
fn money_of_day(view: &StateView<'_>, policy: &Policy, at: UnixMillis) -> u64 {
    let rows = view.state.usage().of_day(at);
    rows.map(|row| row.cost(&policy.prices))
        .fold(0, u64::saturating_add)
}
