//! `tslp guardian` and `tslp policy approve`: what the Guardian goes by, read from the ledger and asked of the kernel.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tslp_core::guardian::{Hindrance, Mode};
use tslp_core::hash::ArtifactHash;
use tslp_decide::tools::{evidence_text, stored_evidence};
use tslp_projections::table::Value as Cell;
use tslp_projections::{APPROVED_POLICY, GRANTS, TOOL_CALLS, TOOL_SESSIONS};

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::approve;
use crate::cli::{GuardianCommand, OutputFormat};
use crate::config::ServeConfig;
use crate::config::layers::WrittenFlags;
use crate::config::settings::ToolsChoice;
use crate::diagnostics::utc_moment;
use crate::exit::Exit;
use crate::ledger::LedgerError;
use crate::tool_loop::{ToolLoopConfig, test_enforcement};
use tslp_tools::guardian::profile_file;

/// Calls that people are shown; the JSON has all that are kept.
const CALLS_SHOWN: usize = 10;

/// Columns of the calls' table.
const CALL_TEXT: usize = 5;
const CALL_DECISION: usize = 6;

pub(super) fn run_guardian(command: &GuardianCommand) -> Result<Exit, CommandFailure> {
    let GuardianCommand::Status { flags, output } = command;
    let (config, _) = read_config(&flags.0)?;
    let tools = ToolLoopConfig::from_config(&config);
    let tested = match tools.filter(|tools| tools.run == ToolsChoice::On) {
        Some(tools) => test_enforcement(&tools.scope),
        None => Err("tools are off (`tools.run`)".to_owned()),
    };
    let tables = GuardianTables::read(&config)?;
    let file = tables.policy_file(config.tools.policy.as_deref());
    let is_breached = tables.halts.iter().any(|row| {
        let halt = row.get(1).map(cell_text);
        halt == Some("sandbox_breach".into())
    });
    let mut hindrances = Vec::new();
    hindrances.extend(tested.is_err().then_some(Hindrance::SandboxUnavailable));
    hindrances.extend(is_breached.then_some(Hindrance::SandboxBreach));
    let mode = Mode::under_hindrances(&hindrances);
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

/// Rows of the Guardian's tables.
#[derive(Default)]
struct GuardianTables {
    policy: Vec<Vec<Cell>>,
    grants: Vec<Vec<Cell>>,
    halts: Vec<Vec<Cell>>,
    calls: Vec<Vec<Cell>>,
    /// The first lines of what the last calls ask for, the latest first.
    lines: Vec<String>,
}

impl GuardianTables {
    fn read(config: &ServeConfig) -> Result<Self, CommandFailure> {
        if !has_ledger(config) {
            return Ok(Self::default());
        }
        let reader = diagnosed_subject(config).readers.open()?;
        let calls = reader.rows(TOOL_CALLS)?;
        let line = |row: &Vec<Cell>| -> Result<String, LedgerError> {
            let Some(Cell::Hash(text)) = row.get(CALL_TEXT) else {
                return Ok(String::new());
            };
            let stored = reader.artifact(ArtifactHash(*text))?.unwrap_or_default();
            let stored = String::from_utf8_lossy(&stored);
            let text = evidence_text(&stored).unwrap_or_default();
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        let last = calls.iter().rev().take(CALLS_SHOWN);
        Ok(Self {
            policy: reader.rows(APPROVED_POLICY)?,
            grants: reader.rows(GRANTS)?,
            halts: reader.rows(TOOL_SESSIONS)?,
            lines: last.map(line).collect::<Result<_, _>>()?,
            calls,
        })
    }

    /// Whether the profile on disk is the one in force.
    fn policy_file(&self, file: Option<&Path>) -> Option<&'static str> {
        let approved = self.policy.first().and_then(|row| row.get(2));
        Some(match (fs::read_to_string(file?), approved) {
            (Err(_), _) => "can't be read: the approved one is in force",
            (Ok(text), Some(Cell::Hash(hash)))
                if ArtifactHash::of(stored_evidence(&text).as_bytes()).0 == *hash =>
            {
                "is the approved one"
            }
            (Ok(_), _) => "isn't the approved one, and isn't in force: run `tslp policy approve`",
        })
    }

    fn json_page(&self, mode: Mode, why: &str, file: Option<&str>) -> Value {
        let objects = |table: usize, rows: &[Vec<Cell>]| {
            let columns = tslp_projections::TABLES[table].columns;
            let object = |row: &Vec<Cell>| {
                let fields = columns.iter().zip(row);
                let fields = fields.map(|(column, cell)| (column.name.to_owned(), json_of(cell)));
                Value::Object(fields.collect())
            };
            rows.iter().map(object).collect::<Vec<_>>()
        };
        json!({
            "mode": mode.as_str(),
            "why": why,
            "policy_file": file,
            "policy": objects(APPROVED_POLICY, &self.policy).first(),
            "grants": objects(GRANTS, &self.grants),
            "sessions": objects(TOOL_SESSIONS, &self.halts),
            "calls": objects(TOOL_CALLS, &self.calls),
        })
    }

    fn text_lines(&self, mode: Mode, why: &str, file: Option<&str>) -> Vec<String> {
        let cell = |row: &[Cell], at: usize| row.get(at).map(cell_text).unwrap_or_default();
        let mut lines = vec![format!("mode {mode}: {why}")];
        lines.push(match self.policy.first() {
            None => "profile built-in".to_owned(),
            Some(row) => format!("profile {} {:.12}", cell(row, 1), cell(row, 2)),
        });
        lines.extend(file.map(|file| format!("the profile on disk {file}")));
        for row in &self.grants {
            let until = match row.get(6) {
                Some(Cell::Integer(at)) => utc_moment(*at),
                _ => String::new(),
            };
            let revoked = match row.get(9) {
                Some(Cell::Integer(1)) => ", revoked",
                _ => "",
            };
            lines.push(format!(
                "grant s{} {} until {until}{revoked}",
                cell(row, 0),
                cell(row, 1)
            ));
        }
        for row in &self.halts {
            let whose = match row.first() {
                Some(Cell::Integer(0)) => "all sessions".to_owned(),
                _ => format!("s{}", cell(row, 0)),
            };
            let halt = match row.get(1) {
                Some(Cell::Text(halt)) => format!("halted: {}", &**halt),
                _ => "not halted".to_owned(),
            };
            lines.push(format!("{whose} {halt}, {} builds", cell(row, 2)));
        }
        for (row, line) in self.calls.iter().rev().zip(&self.lines) {
            let (episode, number, decision) =
                (cell(row, 0), cell(row, 1), cell(row, CALL_DECISION));
            lines.push(format!("call_{episode}_{number} {decision}: {line}"));
        }
        lines
    }
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Integer(number) => number.to_string(),
        Cell::Text(text) => (**text).to_owned(),
        Cell::Hash(hash) => ArtifactHash(*hash).to_string(),
    }
}

fn json_of(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => (*number).into(),
        Cell::Text(_) | Cell::Hash(_) => cell_text(cell).into(),
    }
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
    let profile =
        profile_file::parse_profile(&text).map_err(|error| failed(Exit::CheckFailed, &error))?;
    let hash = approve::approve_profile(&config, &profile.id, &text)?;
    print_page(
        output,
        || json!({ "profile_id": profile.id, "text": hash.to_string() }).to_string(),
        || vec![format!("{} is in force: {hash}", profile.id)],
    )?;
    Ok(Exit::Ok)
}
