//! `tslp guardian` and `tslp policy approve`: what the Guardian goes by, read from the ledger and asked of the kernel.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::str::FromStr;

use serde_json::{Value, json};
use tslp_core::budget::{Budget, Counter, Prices};
use tslp_core::guardian::{Decision, Mode};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::SessionId;
use tslp_core::reason::Reason;
use tslp_decide::tools::{evidence_text, stored_evidence};
use tslp_projections::guardian::{GrantRow, PolicyRow, ToolCallRow, ToolSessionRow};
use tslp_projections::rules::RuleRow;
use tslp_projections::usage::UsageRow;
use tslp_projections::work::WorkRow;
use tslp_store::ledger::LedgerError;
use tslp_tools::guardian::profile_file;

use super::{CommandFailure, acting, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::{GuardianCommand, OutputFormat};
use crate::config::ServeConfig;
use crate::config::layers::WrittenFlags;
use crate::diagnostics::row_object;
use crate::door::client::RunningProxy;
use crate::evidence::moments::utc_moment;
use crate::exit::Exit;
use crate::json_client;
use crate::tool_loop::{ToolLoopConfig, test_enforcement};

/// Calls that people are shown; the JSON has all that are kept.
const CALLS_SHOWN: usize = 10;

pub(super) fn run_guardian(command: &GuardianCommand) -> Result<Exit, CommandFailure> {
    let GuardianCommand::Status { flags, output } = command;
    let (config, _) = read_config(&flags.0)?;
    let tools = ToolLoopConfig::from_config(&config);
    let tested = match tools.filter(ToolLoopConfig::runs) {
        Some(tools) => test_enforcement(&tools.scope),
        None => Err("tools are off (`tools.run`)".to_owned()),
    };
    let tables = GuardianTables::read(&config)?;
    let file = tables.policy_file(config.tools.policy.as_deref());
    let mut halts = tables.halts.iter().map(|row| row.halt);
    let is_breached = halts.any(|halt| halt == Some(Reason::SandboxBreach));
    let own = match &tested {
        _ if is_breached => Mode::OpPreserve,
        Ok(_) => Mode::Ready,
        Err(_) => Mode::SafeMode,
    };
    let mode = mode_of_running(&config)?.unwrap_or_else(|| own.to_string());
    let mode = mode.as_str();
    let why = match &tested {
        Ok(what) => what,
        Err(why) => why,
    };
    print_page(
        *output,
        || tables.json_page(mode, why, file).to_string(),
        || tables.text_lines(mode, why, file),
    )?;
    Ok(Exit::Ok)
}

/// What the proxy that runs says of itself; `None` if none does.
fn mode_of_running(config: &ServeConfig) -> Result<Option<String>, CommandFailure> {
    let Some(running) = RunningProxy::find(&config.data_dir)? else {
        return Ok(None);
    };
    let address = running.address;
    let token = running
        .token
        .map(|token| format!("Authorization: Bearer {}\r\n", token.reveal()));
    let request = format!(
        "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{}\r\n",
        token.unwrap_or_default()
    );
    let health = json_client::request_json(TcpStream::connect(address)?, request.as_bytes())?;
    Ok(health["mode"].as_str().map(str::to_owned))
}

/// Rows of the Guardian's tables.
#[derive(Default)]
struct GuardianTables {
    policy: Vec<PolicyRow>,
    grants: Vec<GrantRow>,
    halts: Vec<ToolSessionRow>,
    calls: Vec<ToolCallRow>,
    /// What was done, by which budgets are judged.
    work: Vec<WorkRow>,
    /// What models read and wrote, and what that costs.
    usage: Vec<UsageRow>,
    prices: Prices,
    /// The budgets by which the proxy decided last: a conversation's, and a day's.
    budgets: [Budget; 2],
    /// The first lines of what the last calls ask for, the latest first.
    lines: Vec<String>,
}

impl GuardianTables {
    fn read(config: &ServeConfig) -> Result<Self, CommandFailure> {
        if !has_ledger(config)? {
            return Ok(Self::default());
        }
        let reader = diagnosed_subject(config).readers.open()?;
        let calls = reader.rows::<ToolCallRow>()?;
        let rules = reader.rows::<RuleRow>()?;
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
            prices: setting(&rules, "price"),
            budgets: ["budget.conversation", "budget.day"].map(|name| setting(&rules, name)),
            lines: last.map(line).collect::<Result<_, _>>()?,
            calls,
        })
    }

    /// Whether the profile on disk is the one in force.
    fn policy_file(&self, file: Option<&Path>) -> Option<&'static str> {
        let approved = self.policy.first();
        Some(match (fs::read_to_string(file?), approved) {
            (Err(_), _) => "can't be read: the approved one is in force",
            (Ok(text), Some(approved))
                if ArtifactHash::of(stored_evidence(&text).as_bytes()) == approved.text =>
            {
                "is the approved one"
            }
            (Ok(_), _) => "isn't the approved one, and isn't in force: run `tslp policy approve`",
        })
    }

    fn json_page(&self, mode: &str, why: &str, file: Option<&str>) -> Value {
        json!({
            "mode": mode,
            "why": why,
            "policy_file": file,
            "policy": self.policy.first().map(row_object),
            "grants": self.grants.iter().map(row_object).collect::<Vec<_>>(),
            "sessions": self.halts.iter().map(row_object).collect::<Vec<_>>(),
            "work": self.work.iter().map(row_object).collect::<Vec<_>>(),
            "calls": self.calls.iter().map(row_object).collect::<Vec<_>>(),
        })
    }

    fn text_lines(&self, mode: &str, why: &str, file: Option<&str>) -> Vec<String> {
        let mut lines = vec![format!("mode {mode}: {why}")];
        lines.push(match self.policy.first() {
            None => "profile built-in".to_owned(),
            Some(row) => format!("profile {} {:.12}", row.profile, row.text),
        });
        lines.extend(file.map(|file| format!("the profile on disk {file}")));
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
        for row in &self.work {
            let [conversation, day] = &self.budgets;
            let (whose, budget) = match row.session {
                SessionId(0) => (format!("all of {:.10}", utc_moment(row.day.0)), day),
                session => (session.to_string(), conversation),
            };
            let limit = |counter| {
                let limit = budget
                    .limits()
                    .iter()
                    .find(|(bounded, _)| *bounded == counter);
                limit.map_or_else(String::new, |(_, limit)| {
                    format!(" of {}", counter.shown(*limit))
                })
            };
            let paid = || {
                let of_day = self.usage.iter().filter(|used| used.day == row.day);
                of_day
                    .map(|it| it.cost(&self.prices))
                    .fold(0, u64::saturating_add)
            };
            let done = Counter::ALL.iter().map(|counter| match counter {
                Counter::Money if row.session == SessionId(0) => (*counter, paid()),
                _ => (*counter, row.done().of(*counter)),
            });
            let shown = done.filter(|(counter, done)| *done > 0 || !limit(*counter).is_empty());
            let figures = shown.map(|(counter, done)| {
                format!("{}{} {counter}", counter.shown(done), limit(counter))
            });
            lines.push(format!(
                "{whose} used {}",
                figures.collect::<Vec<_>>().join(", ")
            ));
        }
        for (row, line) in self.calls.iter().rev().zip(&self.lines) {
            let (episode, number) = (row.episode.0, row.number);
            let decision = row.decision.map_or("not judged", Decision::as_str);
            lines.push(format!("call_{episode}_{number} {decision}: {line}"));
        }
        lines
    }
}

/// A setting by which the proxy decided last.
pub(super) fn setting<T: FromStr + Default>(rules: &[RuleRow], name: &str) -> T {
    let rule = rules
        .iter()
        .find(|rule| rule.name.strip_prefix("policy ") == Some(name));
    let value = rule.and_then(|rule| rule.value.parse().ok());
    value.unwrap_or_default()
}

/// Records a profile as the one in force.
pub(super) fn run_approve(
    file: &Path,
    flags: &WrittenFlags,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(flags)?;
    let shown = file.display();
    let failed = |exit, error: &dyn std::fmt::Display| {
        CommandFailure::new(exit, format!("{shown}: {error}"))
    };
    let real = file
        .canonicalize()
        .map_err(|error| failed(Exit::Failure, &error))?;
    if real.starts_with(&config.workspace) {
        let why =
            "a profile must lie outside of the workspace, where no model's client can write to it";
        return Err(failed(Exit::Usage, &why));
    }
    let text = fs::read_to_string(&real).map_err(|error| failed(Exit::Failure, &error))?;
    profile_file::parse_profile(&text).map_err(|error| failed(Exit::CheckFailed, &error))?;
    acting::approve_policy(&config, text, output)
}
