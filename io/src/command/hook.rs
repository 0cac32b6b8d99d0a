//! `tslp hook`: answers a hook of Claude Code or Codex (the same JSON). `PreToolUse` asks before a tool runs, and is answered by the rules
//! for clients' calls; `SessionStart` begins a conversation, which is told what the last work left unfinished (docs/memory.md); to every
//! other event there is nothing to say. JSON in, JSON out; the exit code is always 0, because clients take others for failures of their own.

use std::env;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::{Value, json};
use tslp_core::guardian::{CallPart, call_parts, judge_client_call};
use tslp_tools::guardian::ToolScope;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::{HookClient, OutputFormat};
use crate::config::layers::WrittenFlags;
use crate::diagnostics::status;
use crate::exit::Exit;

/// The longest question that is read.
const QUESTION_BYTES_MAX: u64 = 4 << 20;

pub(super) fn run_hook(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let answer = read_question().map_or_else(
        |why| unjudged(&why),
        |question| match question["hook_event_name"].as_str() {
            None | Some("PreToolUse") => judge_call(&question, flags),
            Some("SessionStart") => begin_session(flags),
            Some(_) => json!({}),
        },
    );
    print_page(OutputFormat::Json, || answer.to_string(), Vec::new)?;
    Ok(Exit::Ok)
}

/// The settings of a client that ask `tslp hook`, and where they go. Without a matcher: with one, some events of a kind are left out.
pub(super) fn settings_lines(client: HookClient) -> Vec<String> {
    let place = match client {
        HookClient::ClaudeCode => {
            ".claude/settings.json of the project, or ~/.claude/settings.json"
        }
        HookClient::Codex => "~/.codex/hooks.json; Codex asks once whether it may trust them",
    };
    let asked = json!([{ "hooks": [{ "type": "command", "command": "tslp hook" }] }]);
    let settings = format!("{:#}", json!({ "hooks": { "SessionStart": asked } }));
    let settings = settings.lines().map(str::to_owned);
    std::iter::once(format!("# {place}"))
        .chain(settings)
        .collect()
}

/// One JSON value: a client may leave standard input open behind it.
fn read_question() -> Result<Value, String> {
    let input = io::stdin().lock().take(QUESTION_BYTES_MAX);
    let mut values = serde_json::Deserializer::from_reader(input).into_iter();
    let first = values.next().ok_or("nothing was asked")?;
    first.map_err(|error: serde_json::Error| error.to_string())
}

/// What a conversation that begins is told: nothing, where nothing is unfinished, or where the ledger can't say.
fn begin_session(flags: &WrittenFlags) -> Value {
    let block = || {
        let (config, _) = read_config(flags).ok()?;
        if !has_ledger(&config).ok()? {
            return None;
        }
        let status = status::read_status(&diagnosed_subject(&config)).ok()?;
        let is_sound = status.flaw.is_none();
        is_sound.then(|| status.page.recovery_block()).flatten()
    };
    block().map_or_else(
        || json!({}),
        |block| {
            json!({ "hookSpecificOutput": {
                "hookEventName": "SessionStart",
                "additionalContext": block,
            }})
        },
    )
}

fn judge_call(question: &Value, flags: &WrittenFlags) -> Value {
    match decide_question(question, flags) {
        Ok(None) => json!({}),
        Ok(Some(why)) => {
            let reason = format!(
                "{why}. It was not run: find a way inside of the workspace, or ask the user to do it."
            );
            hook_answer("deny", &reason)
        }
        Err(why) => unjudged(&why),
    }
}

fn unjudged(why: &str) -> Value {
    hook_answer("ask", &format!("tslp couldn't judge the call: {why}"))
}

fn hook_answer(decision: &str, reason: &str) -> Value {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }})
}

/// Why the call that a question describes is denied, if it is.
fn decide_question(question: &Value, flags: &WrittenFlags) -> Result<Option<String>, String> {
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
