//! `tslp status` and its views, read from the ledger.

use std::collections::BTreeMap;
use std::net::TcpStream;

use serde_json::{Value, json};
use tslp_core::budget::{Counter, Prices};
use tslp_core::goal::GoalChange;
use tslp_core::ids::{SessionId, UnixMillis};
use tslp_core::reason::Reason;
use tslp_core::record::RecordKind;
use tslp_projections::scope::ScopeRow;
use tslp_projections::usage::UsageRow;
use tslp_store::ledger::LedgerError;

use super::{
    CommandFailure, ledger_subject, need_ledger, print_page, print_vouched, read_config,
    read_or_default,
};
use crate::cli::CommandArgs;
use crate::config::layers::WrittenFlags;
use crate::config::settings::Settings;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::guardian::{GuardianTables, policy_in_force, usage_json};
use crate::diagnostics::records::{RecordNow, read_records};
use crate::diagnostics::status::{self, STATUS_TOKENS_MAX, Status};
use crate::door::client::RunningProxy;
use crate::evidence::moments::{utc_day, utc_moment};
use crate::exit::Exit;
use crate::json_client;
use crate::out::Out;
use crate::tool_loop::{self, TOOLS_OFF, mode_and_reason, test_enforcement};

/// Conversations of a model and day that people are shown; the JSON has all.
const CONVERSATIONS_SHOWN: usize = 5;

/// The work under way.
pub(super) fn show_work(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let page = read_or_default(&config, status::read_status)?;
    print_vouched(of.output, page, Status::json_object, work_lines)
}

/// The work under way, in lines.
pub(super) fn work_lines(status: &Status) -> Vec<String> {
    let lines = status.lines(STATUS_TOKENS_MAX);
    match lines.is_empty() {
        true => vec!["Nothing was asked yet.".to_owned()],
        false => lines,
    }
}

/// What models read and wrote, by day, model and conversation.
pub(super) fn show_usage(days: usize, of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let (mut rows, prices) = read_or_default(&config, |subject| -> Result<_, LedgerError> {
        let reader = subject.readers.open()?;
        Ok((reader.rows::<UsageRow>()?, policy_in_force(&reader)?.prices))
    })?;
    let mut of_days: Vec<UnixMillis> = rows.iter().map(|row| row.day).collect();
    of_days.dedup();
    let first = of_days.len().saturating_sub(days);
    let from = of_days.get(first).copied().unwrap_or(UnixMillis(i64::MAX));
    rows.retain(|row| row.day >= from);
    print_page(
        of.output,
        || json!({ "usage": usage_json(&rows, &prices) }).to_string(),
        || usage_lines(&rows, &prices),
    )?;
    Ok(Exit::Ok)
}

fn usage_lines(rows: &[UsageRow], prices: &Prices) -> Vec<String> {
    let mut of_models: BTreeMap<(UnixMillis, &str), Vec<&UsageRow>> = BTreeMap::new();
    for row in rows {
        let of_model = of_models.entry((row.day, &row.model)).or_default();
        of_model.push(row);
    }
    let mut lines = Vec::new();
    for ((day, model), mut own) in of_models.into_iter().rev() {
        own.sort_by_key(|row| std::cmp::Reverse(row.read + row.written));
        let mut sum = own[0].clone();
        own[1..].iter().for_each(|row| sum.add(row));
        let model = match model {
            "" => "(no model named)",
            model => model,
        };
        let day = utc_day(day.0);
        lines.push(format!("{day} {model}: {}", figures(&sum, prices)));
        for row in own.iter().take(CONVERSATIONS_SHOWN) {
            let whose = match row.session.0 {
                0 => "outside of conversations".to_owned(),
                _ => format!("conversation {}", row.session),
            };
            lines.push(format!("  {whose}: {}", figures(row, prices)));
        }
        if let Some(more @ 1..) = own.len().checked_sub(CONVERSATIONS_SHOWN) {
            lines.push(format!("  and {more} more conversations"));
        }
    }
    if lines.is_empty() {
        lines.push("nothing was used yet".to_owned());
    }
    lines
}

fn figures(row: &UsageRow, prices: &Prices) -> String {
    let requests = if row.requests == 1 {
        "request"
    } else {
        "requests"
    };
    let mut text = format!(
        "{} {requests}, {} tokens read ({} from the cache), {} written",
        row.requests, row.read, row.cached, row.written
    );
    if row.estimated > 0 {
        text += &format!(", {} of them estimated", row.estimated);
    }
    if *prices != Prices::default() {
        text += &format!(", cost {}", Counter::Money.shown(row.cost(prices)));
    }
    text
}

/// The statements that are kept for the project.
pub(super) fn show_records(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let records = read_or_default(&config, read_records)?;
    let lines = || match records.is_empty() {
        true => vec!["Nothing is noted.".to_owned()],
        false => records.iter().map(RecordNow::line).collect(),
    };
    let page = || {
        let records: Vec<Value> = records.iter().map(RecordNow::json).collect();
        json!({ "records": records }).to_string()
    };
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}

/// The files that are off and those that are locked.
pub(super) fn show_scope(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let rules = |it: &DiagnosedSubject| -> Result<_, LedgerError> { it.readers.open()?.rows() };
    let rules: Vec<ScopeRow> = read_or_default(&config, rules)?;
    let lines = || match rules.is_empty() {
        true => vec!["Nothing is off, and nothing is locked.".to_owned()],
        false => rules.iter().map(scope_line).collect(),
    };
    let page = || json!({ "rules": rules.iter().map(rule_json).collect::<Vec<_>>() }).to_string();
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}

fn scope_line(row: &ScopeRow) -> String {
    let place = |session: SessionId, of_none: &str| match session {
        SessionId(0) => of_none.to_owned(),
        session => format!(" in session {}", session.0),
    };
    let (place, by) = (place(row.session, ""), place(row.said_in, " at a terminal"));
    let at = utc_moment(row.at_ms.0);
    format!("{} {}{place}, said {at}{by}", row.rule, row.pattern)
}

fn rule_json(row: &ScopeRow) -> Value {
    let number = |session: SessionId| (session.0 > 0).then_some(session.0);
    json!({
        "at": utc_moment(row.at_ms.0),
        "pattern": row.pattern,
        "rule": row.rule.as_str(),
        "said_in": number(row.said_in),
        "session": number(row.session),
    })
}

/// What the Guardian goes by, read from the ledger and asked of the kernel.
pub(super) fn show_guard(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let scope = tool_loop::scope_of_replies(&config);
    let tested = match scope.filter(|_| config.tools.runs()) {
        Some(scope) => test_enforcement(&scope),
        None => Err(TOOLS_OFF.to_owned()),
    };
    let tables = |it: &DiagnosedSubject| -> Result<_, LedgerError> {
        GuardianTables::read(&it.readers.open()?)
    };
    let tables = read_or_default(&config, tables)?;
    let mut halts = tables.halts.iter().map(|row| row.halt);
    let is_breached = halts.any(|halt| halt == Some(Reason::SandboxBreach));
    let (mode, why) = match mode_of_running(&config)? {
        Some(running) => running,
        None => {
            let (mode, why) = mode_and_reason(is_breached, Some(tested.map(drop)));
            (mode.to_string(), why)
        }
    };
    let (mode, why) = (mode.as_str(), why.as_str());
    print_page(
        of.output,
        || tables.json_page(mode, why).to_string(),
        || tables.text_lines(mode, why),
    )?;
    Ok(Exit::Ok)
}

/// The mode of the proxy that runs and its reason, as it says; `None` if none does.
fn mode_of_running(config: &Settings) -> Result<Option<(String, String)>, CommandFailure> {
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
    let said = |field: &str| health[field].as_str().map(str::to_owned);
    Ok(said("mode").zip(said("reason")))
}

/// The working memory that spec 003 keeps in a file NOTES.md; nothing is written.
pub(super) fn print_notes(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let config = read_config(flags)?;
    need_ledger(&config)?;
    let subject = ledger_subject(&config);
    let status = status::read_status(&subject)?;
    let records = read_records(&subject)?;
    let mut lines = notes_lines(&status.page, &records);
    lines.extend(
        status
            .flaw
            .map(|flaw| format!("\n<!-- not verified: {flaw} -->")),
    );
    let mut out = Out::stdout();
    // Blank lines between the parts, and the lines of what is quoted.
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        out.line(line)?;
    }
    Ok(Exit::Ok)
}

/// The notes in the headings and the order of spec 003.
fn notes_lines(status: &Status, records: &[RecordNow]) -> Vec<String> {
    let mut lines = vec![
        "# Agent Working Memory (NOTES.md)".to_owned(),
        "\n## Session Continuity".to_owned(),
        "\n### Active Context".to_owned(),
    ];
    let said = |what| status.goal.iter().filter(move |row| row.what == what);
    lines.extend(said(GoalChange::Set).map(|row| format!("- **Current Goal**: {}", row.text)));
    if let Some((asked, words, _)) = &status.work.asked {
        let at = utc_moment(asked.at_ms.0);
        lines.push(format!("- **Asked last**: {words} ({at})"));
    }
    let in_flight = status.work.in_flight.iter();
    lines.extend(in_flight.map(|(entity, reason)| {
        format!("- **In flight**: {entity} was refused ({})", reason.code())
    }));
    lines.push("\n### Lightweight Identifiers".to_owned());
    if !status.changed.is_empty() {
        lines.push("| Identifier | Purpose |\n|------------|---------|".to_owned());
    }
    let changed = status.changed.iter();
    lines.extend(changed.map(|(_, place)| format!("| {place} | changed |")));
    lines.push("\n### Decision Log".to_owned());
    let decided = |it: &&RecordNow| it.is_kept() && it.said().1.kind == RecordKind::Decision;
    let mut decided: Vec<&RecordNow> = records.iter().filter(decided).collect();
    // Those of the current goal first.
    let current = said(GoalChange::Set).map(|row| &row.text).next();
    decided.sort_by_key(|it| (it.goal.as_ref() != current, &it.goal));
    for record in decided {
        let (at, decision) = record.said();
        lines.push(format!("\n#### {} - {}", utc_moment(at.0), decision.key));
        let goal = record.goal.iter().map(|goal| format!("**Goal**: {goal}"));
        lines.extend(goal);
        lines.push(format!("**Decision**: {}", decision.statement));
        if !decision.path.is_empty() {
            lines.push(format!(
                "**Evidence**:\n- `{}` [{}]{}",
                decision.quotation,
                decision.path,
                record.doubt()
            ));
        }
    }
    lines.push("\n### Pending Questions".to_owned());
    lines.extend(said(GoalChange::Question).map(|row| format!("- [ ] {}", row.text)));
    lines.push("\n## Active Sub-Goals".to_owned());
    lines.extend(said(GoalChange::Next).map(|row| format!("- [ ] {}", row.text)));
    lines.push("\n## Discovered Technical Debt".to_owned());
    let stale = status.stale.iter();
    lines.extend(
        stale.map(|entity| format!("- {entity} is STALE: disk holds what nobody was shown")),
    );
    lines.push("\n## Blockers & Dependencies".to_owned());
    let runs = [
        ("Test run", &status.work.test),
        ("Build", &status.work.build),
    ];
    for (what, run) in runs {
        let failed = run.as_ref().filter(|run| run.result.passed == Some(false));
        lines.extend(failed.map(|run| format!("- {what} `{}` failed", run.command)));
    }
    lines
}
