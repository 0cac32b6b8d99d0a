//! `tslp hook`: answers a hook of Claude Code or Codex (the same JSON). `PreToolUse` asks before a tool runs, and is answered by the rules
//! for clients' calls; `SessionStart` begins a conversation, which is told what the last work left unfinished (docs/memory.md); compactions and
//! ends go on record; `Stop` asks once for decisions; to every other event there is nothing to say. JSON in, JSON out; the exit code is always 0, because clients take others for failures of their own.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::unix::process as unix_process;
use std::path::Path;
use std::time::Duration;
use std::{env, fs, thread};

use serde_json::{Map, Value, json};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, Verb};
use tslp_core::guardian::{CallPart, call_parts, judge_client_call};
use tslp_core::ids::{Seq, SessionId};
use tslp_core::record::RecordKind;
use tslp_decide::prompt::goal::AT_WORK_MILLIS;
use tslp_projections::at_hand::AskedRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::records::RecordRow;
use tslp_projections::signals::{self, SignalRow};
use tslp_projections::stale::StaleRow;
use tslp_store::ledger::LedgerReader;
use tslp_tools::guardian::ToolScope;
use tslp_workspace::observer::{SystemClock, WallClock as _};

use super::{CommandFailure, has_ledger, ledger_subject, print_page, read_config};
use crate::acts::{Act, DirectiveAct};
use crate::attention::{Attention, AttentionLevel};
use crate::cli::OutputFormat;
use crate::config::layers::WrittenFlags;
use crate::config::settings::Settings;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::state::EntityState;
use crate::diagnostics::status::{self, Status};
use crate::diagnostics::vouched;
use crate::door::client::DoorClient;
use crate::door::message;
use crate::evidence::story::Outcome;
use crate::exit::Exit;
use crate::out::Out;
use crate::tool_loop::tool_scope;

/// The longest question that is read.
const QUESTION_BYTES_MAX: u64 = 4 << 20;

pub(super) fn run_hook(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    let answer = read_question().map_or_else(
        |why| unjudged(&why),
        |question| match question["hook_event_name"].as_str() {
            None | Some("PreToolUse") => judge_call(&question, flags),
            Some("SessionStart") => begin_session(&question, flags),
            Some("PreCompact") => end_session("compacting", flags),
            Some("PostCompact") => end_session("compacted", flags),
            Some("SessionEnd") if question["reason"] == "clear" => end_session("cleared", flags),
            Some("SessionEnd") => end_session("ended", flags),
            Some("Stop") => ask_for_decisions(&question, flags),
            Some(_) => json!({}),
        },
    );
    print_page(OutputFormat::Json, || answer.to_string(), Vec::new)?;
    Ok(Exit::Ok)
}

/// The events that clients are asked to tell.
const EVENTS: [&str; 5] = [
    "SessionStart",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
];

/// The settings of a client that ask `tslp hook`, and where they go. Without a matcher: with one, some events of a kind are left out.
///
/// # Errors
/// If it has no hooks that tslp answers.
pub(super) fn settings_lines(client: &str) -> Result<Vec<String>, String> {
    let place = match client {
        "claude-code" => ".claude/settings.json of the project, or ~/.claude/settings.json",
        "codex" => "~/.codex/hooks.json; Codex asks once whether it may trust them",
        _ => {
            return Err(format!(
                "{client} has no hooks that tslp answers; claude-code and codex do"
            ));
        }
    };
    let asked = json!([{ "hooks": [{ "type": "command", "command": "tslp hook" }] }]);
    let hooks: Map<String, Value> = EVENTS
        .iter()
        .map(|event| ((*event).to_owned(), asked.clone()))
        .collect();
    let mut settings = json!({ "hooks": hooks });
    if client == "claude-code" {
        settings["statusLine"] = json!({ "type": "command", "command": "tslp status line" });
    }
    let lines = format!("# {place}\n{settings:#}");
    Ok(lines.lines().map(str::to_owned).collect())
}

/// One JSON value: a client may leave standard input open behind it.
fn read_question() -> Result<Value, String> {
    let input = io::stdin().lock().take(QUESTION_BYTES_MAX);
    let mut values = serde_json::Deserializer::from_reader(input).into_iter();
    let first = values.next().ok_or("nothing was asked")?;
    first.map_err(|error: serde_json::Error| error.to_string())
}

/// Begins the signal that a client's process has begun a conversation.
const BEGAN: &str = "began ";

/// Programs between a client and its hooks.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "fish", "env"];

/// The client that runs this hook, as its process's number and start.
fn client_process() -> Option<String> {
    let mut process = unix_process::parent_id();
    for _ in 0..SHELLS.len() {
        let (name, parent, start) = process_stat(process)?;
        if !SHELLS.contains(&name.as_str()) {
            return Some(format!("{process}:{start}"));
        }
        process = parent;
    }
    None
}

/// A process's program, parent and start, by the kernel.
fn process_stat(process: u32) -> Option<(String, u32, String)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name is in parentheses, and may hold some itself.
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let (parent, start) = (fields.get(1)?.parse().ok()?, *fields.get(19)?);
    Some((name.to_owned(), parent, start.to_owned()))
}

/// Whether all other clients whose hooks have told of them are gone; `false` if none has.
fn others_have_ended(reader: &LedgerReader) -> bool {
    let own = client_process();
    let is_alive = |process: &str| {
        let known = process.split_once(':');
        known.is_some_and(|(id, start)| {
            let now = id.parse().ok().and_then(process_stat);
            now.is_some_and(|(.., now)| now == start)
        })
    };
    let rows: Vec<SignalRow> = reader.rows().unwrap_or_default();
    let began = rows.iter().filter_map(|row| row.signal.strip_prefix(BEGAN));
    let others: Vec<&str> = began.filter(|it| Some(*it) != own.as_deref()).collect();
    !others.is_empty() && !others.into_iter().any(is_alive)
}

/// The last prompt's attention.
fn last_attention(reader: &LedgerReader) -> Option<Attention> {
    let rows = reader.rows::<EpisodeRow>().ok()?;
    let in_conversation = |row: &&EpisodeRow| row.session != SessionId(0);
    let mut rows = rows.iter().rev().filter(in_conversation);
    rows.find_map(Attention::of_row)
}

/// Asks once for the decisions behind what was changed, where the context has grown and none is on record: a clear or a compaction would
/// lose them.
fn ask_for_decisions(question: &Value, flags: &WrittenFlags) -> Value {
    let asked = || {
        if question["stop_hook_active"] == true {
            return None;
        }
        let name = question["session_id"].as_str().unwrap_or_default();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = name.chars().filter(is_plain).take(64).collect();
        let (config, subject, reader) = open_ledger(flags)?;
        let attention = last_attention(&reader)?;
        if attention.level == AttentionLevel::Green {
            return None;
        }
        let told = format!("harvest {name}");
        let signals = reader.rows::<SignalRow>().ok()?;
        let ended = signals::last_end(&signals);
        let is_since = |seq| seq > ended;
        let mut signals = signals.iter().filter(|row| is_since(row.seq));
        let records = reader.rows::<RecordRow>().ok()?.into_iter();
        let records = records.filter(|row| is_since(row.seq));
        let mut records = records.filter_map(|row| reader.event_at(row.seq));
        let is_decision = |said: &Event| matches!(said, Event::RecordChanged(it) if it.kind == RecordKind::Decision);
        if signals.any(|row| row.signal == told) || records.any(|it| is_decision(&it.event)) {
            return None;
        }
        if sound_status(&subject)?.changed.is_empty() {
            return None;
        }
        // On record first, so that it is never asked twice.
        signal(&config, &told)?;
        let words = attention.words();
        Some(json!({
            "decision": "block",
            "reason": format!("Changes of this conversation were accepted, no decision behind them is on record, and its context is filling ({words}). {HARVEST}"),
        }))
    };
    asked().unwrap_or_else(|| json!({}))
}

/// How decisions are put on record.
const HARVEST: &str = "What was decided, and why, is lost with the context unless it is on record: one line for each decision, `decision #key: statement`, followed by a quotation of the code that bears it out in backticks and its place in brackets, `[path:line]`. The tool `append_delta` of tslp takes such lines. If nothing was decided, nothing is missing.";

/// One line for a client's status line; empty where there is nothing to say. Trouble is no failure of the client's.
pub(super) fn run_statusline(flags: &WrittenFlags) -> Result<Exit, CommandFailure> {
    // What the client tells of itself isn't needed, and waited for by nobody; left unread, it would be the client's broken pipe.
    let _reader = thread::spawn(|| io::copy(&mut io::stdin().lock(), &mut io::sink()));
    let line = || {
        let (_, subject, reader) = open_ledger(flags)?;
        if vouched::flaw_of_tables(&subject, &reader).ok()?.is_some() {
            return Some("tslp: the ledger can't be trusted, see `tslp doctor`".to_owned());
        }
        let files = reader.tracked_files().ok()?;
        let entities: u64 = files.iter().map(|(_, entities)| u64::from(*entities)).sum();
        let asked = reader.rows::<AskedRow>().ok()?;
        let turn = asked.iter().map(|row| row.seq).max();
        let changes = Outcome::since(&reader, turn.unwrap_or(Seq(1))).ok()?;
        let held = status::refused_on_disk(&reader).ok()?;
        // What a file holds of a refused change, in this turn or before, is that refusal and nothing else.
        let parts = held.iter().filter(|it| it.symbol.is_some());
        let of_turn = changes.refused.iter().map(|(entity, _)| entity);
        let refused: BTreeSet<&EntityId> = parts.chain(of_turn).collect();
        let rows = reader.rows::<StaleRow>().ok()?.into_iter();
        let stale = rows.filter(|row| {
            EntityState::is_stale_word(row.disk_holds.as_str())
                && !status::is_of_refusal(row, &held)
        });
        let mut line = format!("tslp {entities} true");
        let counts = [
            (refused.len(), "refused (tslp undo)"),
            (changes.unjudged.len(), "unjudged"),
            (stale.count(), "STALE"),
        ];
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            line.push_str(&format!(" · {count} {what}"));
        }
        if let Some(attention) = last_attention(&reader) {
            line.push_str(&format!(" · {}", attention.words()));
        }
        Some(line)
    };
    Out::stdout().lines(line())?;
    Ok(Exit::Ok)
}

/// How long a hook waits for the proxy: what isn't on record then was told in vain, and the client goes on.
const DOOR_TIME: Duration = Duration::from_millis(40);

/// Has the proxy record what the client tells. `None` if none runs, or it doesn't say so in time.
fn signal(config: &Settings, told: &str) -> Option<()> {
    let mut door = DoorClient::connect_for(&config.data_dir, DOOR_TIME)?;
    let (kind, payload) = message::act_payload(&Act::Directive(DirectiveAct::of(
        Verb::Signal,
        vec![told.to_owned()],
    )));
    let goal = "a client's hook tells of its conversation";
    door.ask(kind, goal, payload).ok().map(drop)
}

/// The conversation as it was is over.
fn end_session(told: &str, flags: &WrittenFlags) -> Value {
    if let Ok(config) = read_config(flags) {
        signal(&config, told);
    }
    json!({})
}

/// The ledger, if there is one.
fn open_ledger(flags: &WrittenFlags) -> Option<(Settings, DiagnosedSubject, LedgerReader)> {
    let config = read_config(flags).ok()?;
    let subject = has_ledger(&config).ok()?.then(|| ledger_subject(&config))?;
    let reader = subject.readers.open().ok()?;
    Some((config, subject, reader))
}

/// What is going on, if the ledger can be believed.
fn sound_status(subject: &DiagnosedSubject) -> Option<Status> {
    let status = status::read_status(subject).ok()?;
    status.flaw.is_none().then_some(status.page)
}

/// What a conversation that begins is told: nothing, where nothing is unfinished, where another one is at work, or where the ledger
/// can't say.
fn begin_session(question: &Value, flags: &WrittenFlags) -> Value {
    let block = || {
        let (config, subject, reader) = open_ledger(flags)?;
        let mut status = sound_status(&subject)?;
        // A second window begins like a client that was started anew after a crash; all other sources are the conversation itself.
        if matches!(question["source"].as_str(), None | Some("startup")) {
            let is_running = DoorClient::connect_for(&config.data_dir, DOOR_TIME).is_some();
            let is_at_work = status.waits.is_some_and(|(since, for_reply)| {
                let age = SystemClock.now().0.abs_diff(since.0);
                age < AT_WORK_MILLIS && (is_running || !for_reply)
            });
            if is_at_work && !others_have_ended(&reader) {
                // What it leaves is its own.
                status = Status {
                    goal: status.goal,
                    ..Status::default()
                };
            }
        }
        if let Some(process) = client_process() {
            signal(&config, &format!("{BEGAN}{process}"));
        }
        status.recovery_block()
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
    let config = read_config(flags).map_err(|failure| failure.message)?;
    let scope = ToolScope {
        home: env::home_dir(),
        ..tool_scope(&config, None)
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
