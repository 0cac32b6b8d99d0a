//! `tslp hook`: answers a client that asks before it runs a tool (`PreToolUse` of Claude Code and Codex), by the rules for clients'
//! calls. JSON in, JSON out; the exit code is always 0, because clients take others for failures of their own.

use std::env;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::{Value, json};
use tslp_core::guardian::{CallPart, call_parts, judge_client_call};
use tslp_tools::guardian::ToolScope;

use super::{CommandFailure, print_page, read_config};
use crate::cli::OutputFormat;
use crate::config::layers::WrittenFlags;
use crate::exit::Exit;

/// The longest question that is read.
const QUESTION_BYTES_MAX: u64 = 4 << 20;

pub(super) fn run_hook(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let answer = match decide_question(flags) {
        Ok(None) => json!({}),
        Ok(Some(why)) => {
            let reason = format!(
                "{why}. It was not run: find a way inside of the workspace, or ask the user to do it."
            );
            hook_answer("deny", &reason)
        }
        Err(why) => hook_answer("ask", &format!("tslp couldn't judge the call: {why}")),
    };
    print_page(OutputFormat::Json, || answer.to_string(), Vec::new)?;
    Ok(Exit::Ok)
}

fn hook_answer(decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

/// Why the call that standard input describes is denied, if it is.
fn decide_question(flags: &WrittenFlags) -> Result<Option<String>, String> {
    let mut question = String::new();
    let mut input = io::stdin().lock().take(QUESTION_BYTES_MAX);
    input
        .read_to_string(&mut question)
        .map_err(|error| error.to_string())?;
    let question: Value = serde_json::from_str(&question).map_err(|error| error.to_string())?;
    let tool = question["tool_name"].as_str();
    let tool = tool.ok_or("the question names no `tool_name`")?;
    let (config, _) = read_config(flags).map_err(|failure| failure.message)?;
    let scope = ToolScope {
        workspace: config.workspace,
        hidden: vec![config.data_dir],
        toolchains: Vec::new(),
        home: env::home_dir(),
    };
    let parts = call_parts(tool, &question["tool_input"].to_string());
    let cwd = question["cwd"]
        .as_str()
        .filter(|cwd| Path::new(cwd).is_absolute());
    let cwd = cwd.map(|cwd| (CallPart::Folder, cwd));
    let parts = parts.iter().map(|(part, text)| (*part, text.as_str()));
    let parts: Vec<(CallPart, &str)> = cwd.into_iter().chain(parts).collect();
    let found = judge_client_call(&parts, &scope.tool_jail());
    let found = found.first();
    Ok(found.map(|(harm, why)| format!("{harm}: {why}")))
}
