//! What the Guardian's tables say: grants, halts, calls, and how much agents have done of what budgets allow.

use serde_json::{Value, json};
use tslp_core::budget::{Budget, Counter, Prices};
use tslp_core::guardian::Decision;
use tslp_core::ids::SessionId;
use tslp_core::policy::Policy;
use tslp_core::reason::Reason;
use tslp_decide::scope::tools::evidence_text;
use tslp_projections::goal::{self, GoalRow};
use tslp_projections::guardian::{GrantRow, PolicyRow, ToolCallRow, ToolSessionRow};
use tslp_projections::rules::RulesRow;
use tslp_projections::usage::UsageRow;
use tslp_projections::work::{GOAL, WorkRow};
use tslp_store::ledger::{LedgerError, LedgerReader};

use super::row_object;
use crate::evidence::moments::{utc_day, utc_moment};

/// Calls that people are shown; the JSON of the command has all that are kept.
const CALLS_SHOWN: usize = 30;

/// Rows of usage that the page shows, the last ones.
const USAGE_SHOWN: usize = 200;

/// Rows of the Guardian's tables.
#[derive(Default)]
pub(crate) struct GuardianTables {
    /// The profile in force, if one was approved.
    pub(crate) policy: Vec<PolicyRow>,
    grants: Vec<GrantRow>,
    /// Halts, by session.
    pub(crate) halts: Vec<ToolSessionRow>,
    calls: Vec<ToolCallRow>,
    /// What was done, by which budgets are judged.
    work: Vec<WorkRow>,
    /// What models read and wrote, and what that costs.
    usage: Vec<UsageRow>,
    prices: Prices,
    /// The budgets by which the proxy decided last: a conversation's, a day's, and the goal's.
    budgets: [Budget; 3],
    /// The first lines of what the last calls ask for, the latest first.
    lines: Vec<String>,
}

impl GuardianTables {
    /// Reads them.
    ///
    /// # Errors
    /// When the ledger can't be read.
    pub(crate) fn read(reader: &LedgerReader) -> Result<Self, LedgerError> {
        let calls = reader.rows::<ToolCallRow>()?;
        let decided_by = policy_in_force(reader)?;
        let line = |row: &ToolCallRow| -> Result<String, LedgerError> {
            let stored = reader.artifact(row.text)?;
            let text = stored.and_then(|stored| {
                let stored = String::from_utf8_lossy(&stored);
                Some(evidence_text(&stored)?.lines().next()?.to_owned())
            });
            Ok(text.unwrap_or_else(|| "(no text on record)".to_owned()))
        };
        let last = calls.iter().rev().take(CALLS_SHOWN);
        Ok(Self {
            policy: reader.rows()?,
            grants: reader.rows()?,
            halts: reader.rows()?,
            work: reader.rows()?,
            usage: reader.rows()?,
            prices: decided_by.prices,
            budgets: [
                decided_by.budget_conversation,
                decided_by.budget_day,
                goal::budget(reader.rows::<GoalRow>()?.iter()),
            ],
            lines: last.map(line).collect::<Result<_, _>>()?,
            calls,
        })
    }

    /// For programs.
    pub(crate) fn json_page(&self, mode: &str, why: &str) -> Value {
        json!({
            "mode": mode,
            "why": why,
            "policy": self.policy.first().map(row_object),
            "grants": self.grants.iter().map(row_object).collect::<Vec<_>>(),
            "sessions": self.halts.iter().map(row_object).collect::<Vec<_>>(),
            "work": self.work.iter().map(row_object).collect::<Vec<_>>(),
            "calls": self.calls.iter().map(row_object).collect::<Vec<_>>(),
        })
    }

    /// For people.
    pub(crate) fn text_lines(&self, mode: &str, why: &str) -> Vec<String> {
        let mut lines = vec![format!("mode {mode}: {why}")];
        lines.push(match self.policy.first() {
            None => "profile built-in".to_owned(),
            Some(row) => format!("profile {} {:.12}", row.profile, row.text),
        });
        for row in &self.grants {
            let until = utc_moment(row.expires_at.0);
            let revoked = if row.revoked { ", revoked" } else { "" };
            lines.push(format!(
                "grant {} {} until {until}{revoked}",
                row.session, row.capability
            ));
        }
        for row in &self.halts {
            let whose = match row.session {
                SessionId(0) => "all sessions".to_owned(),
                _ if row.halt == Some(Reason::AgentsStopped) => "all agents".to_owned(),
                session => session.to_string(),
            };
            let halt = match row.halt {
                Some(halt) => format!("halted: {halt}"),
                None => "not halted".to_owned(),
            };
            lines.push(format!("{whose} {halt}, {} builds", row.builds));
        }
        for (whose, counted) in self.used() {
            let shown = counted.into_iter().filter(|it| it.1 > 0 || it.2.is_some());
            let figures = shown.map(|(counter, done, limit)| {
                let of = limit.map(|limit| format!(" of {}", counter.shown(limit)));
                format!(
                    "{}{} {counter}",
                    counter.shown(done),
                    of.unwrap_or_default()
                )
            });
            let figures: Vec<String> = figures.collect();
            lines.push(format!("{whose} used {}", figures.join(", ")));
        }
        for (row, line) in self.calls.iter().rev().zip(&self.lines) {
            let (episode, number) = (row.episode.0, row.number);
            let decision = row.decision.map_or("not judged", Decision::as_str);
            lines.push(format!("call_{episode}_{number} {decision}: {line}"));
        }
        lines
    }

    /// Whose work it was, and of each that is counted how much was done, of how much.
    fn used(&self) -> Vec<(String, Vec<Counted>)> {
        let of_row = |row: &WorkRow| {
            let [conversation, day, goal] = &self.budgets;
            let (whose, budget) = match row.session {
                SessionId(0) => (format!("all of {}", utc_day(row.day.0)), day),
                GOAL => ("all for the goal".to_owned(), goal),
                session => (session.to_string(), conversation),
            };
            let paid = || {
                let of_day = self.usage.iter().filter(|used| used.day == row.day);
                of_day
                    .map(|it| it.cost(&self.prices))
                    .fold(0, u64::saturating_add)
            };
            let counted = Counter::ALL.iter().map(|counter| {
                let done = match counter {
                    Counter::Money if row.session == SessionId(0) => paid(),
                    _ => row.done().of(*counter),
                };
                let mut limits = budget.limits().iter();
                let limit = limits.find(|(bounded, _)| bounded == counter);
                (*counter, done, limit.map(|(_, limit)| *limit))
            });
            (whose, counted.collect())
        };
        self.work.iter().map(of_row).collect()
    }

    /// What budgets leave, of everybody who has one.
    pub(crate) fn budgets_json(&self) -> Value {
        let used = self.used().into_iter();
        let bounded = used.flat_map(|(whose, counted)| {
            counted.into_iter().filter_map(move |(counter, done, limit)| {
                let limit = limit?;
                let left = limit.saturating_sub(done);
                let [used, left, limit] = [done, left, limit].map(|it| counter.shown(it));
                let what = counter.as_str();
                Some(json!({ "left": left, "limit": limit, "used": used, "what": what, "whose": whose }))
            })
        });
        bounded.collect()
    }

    /// What models read, wrote and cost.
    pub(crate) fn usage_json(&self) -> Value {
        let shown = self.usage.len().saturating_sub(USAGE_SHOWN);
        usage_json(&self.usage[shown..], &self.prices)
    }

    /// The last grants and until when they hold.
    pub(crate) fn grants_json(&self) -> Value {
        let grants = self.grants.iter().map(|row| {
            json!({
                "capability": row.capability.as_str(),
                "revoked": row.revoked,
                "session": row.session.to_string(),
                "until": utc_moment(row.expires_at.0),
            })
        });
        grants.collect()
    }

    /// The last calls, the latest first, and what was decided on each.
    pub(crate) fn calls_json(&self) -> Value {
        let calls = self.calls.iter().rev().zip(&self.lines).map(|(row, line)| {
            json!({
                "call": format!("call_{}_{}", row.episode.0, row.number),
                "decision": row.decision.map(Decision::as_str),
                "door": row.door.as_str(),
                "episode": row.episode.0,
                "text": line,
            })
        });
        calls.collect()
    }
}

/// What models read, wrote and cost, a row for each day, model and conversation.
pub(crate) fn usage_json(rows: &[UsageRow], prices: &Prices) -> Value {
    let rows = rows.iter().map(|row| {
        let mut object = row_object(row);
        object["day"] = utc_day(row.day.0).into();
        object["cost"] = Counter::Money.shown(row.cost(prices)).into();
        object
    });
    rows.collect()
}

/// What is counted, how much of it was done, and of how much, if that is bounded.
type Counted = (Counter, u64, Option<u64>);

/// The policy by which the proxy decided last.
pub(crate) fn policy_in_force(reader: &LedgerReader) -> Result<Policy, LedgerError> {
    let last = reader.rows::<RulesRow>()?.pop();
    Ok(last.map(|row| row.rules.policy).unwrap_or_default())
}
