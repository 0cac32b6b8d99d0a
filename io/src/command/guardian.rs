//! `tslp guardian`: what the Guardian goes by, read from the ledger and asked of the kernel.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use tslp_core::hash::ArtifactHash;
use tslp_core::reason::Reason;
use tslp_decide::tools::stored_evidence;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::GuardianCommand;
use crate::config::ServeConfig;
use crate::diagnostics::guardian::GuardianTables;
use crate::door::client::RunningProxy;
use crate::exit::Exit;
use crate::json_client;
use crate::tool_loop::{TOOLS_OFF, ToolLoopConfig, mode_and_reason, test_enforcement};

pub(super) fn run_guardian(command: &GuardianCommand) -> Result<Exit, CommandFailure> {
    let GuardianCommand::Status(of) = command;
    let (config, _) = read_config(&of.flags.0)?;
    let tools = ToolLoopConfig::from_config(&config);
    let tested = match tools.filter(ToolLoopConfig::runs) {
        Some(tools) => test_enforcement(&tools.scope),
        None => Err(TOOLS_OFF.to_owned()),
    };
    let tables = match has_ledger(&config)? {
        true => GuardianTables::read(&diagnosed_subject(&config).readers.open()?)?,
        false => GuardianTables::default(),
    };
    let file = policy_file(&tables, config.tools.policy.as_deref());
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
        || tables.json_page(mode, why, file).to_string(),
        || tables.text_lines(mode, why, file),
    )?;
    Ok(Exit::Ok)
}

/// The mode of the proxy that runs and its reason, as it says; `None` if none does.
fn mode_of_running(config: &ServeConfig) -> Result<Option<(String, String)>, CommandFailure> {
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

/// Whether the profile on disk is the one in force.
fn policy_file(tables: &GuardianTables, file: Option<&Path>) -> Option<&'static str> {
    let approved = tables.policy.first();
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
