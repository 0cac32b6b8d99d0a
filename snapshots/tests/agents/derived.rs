//! What is derived of recorded sessions, held against what the sessions themselves say (docs/memory.md).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tslp_core::guardian::{CallPart, call_parts};
use tslp_core::policy::Policy;
use tslp_decide::prompt::goal;
use tslp_projections::state::StateView;
use tslp_snapshots::recording::{self, RecordedStep};
use tslp_snapshots::stage::Stage;
use tslp_snapshots::store::MemoryStore;

use super::session;

/// A command line of a session's, as its client's messages tell it.
#[derive(Clone, Default, PartialEq, Eq)]
struct Command {
    line: String,
    has_failed: bool,
}

/// What a session says itself, up to a request.
#[derive(Default)]
struct Said {
    /// The turn of the script that the user asked last, and the line that says it.
    turn: Option<(usize, String)>,
    commands: BTreeMap<String, String>,
    last: Option<Command>,
    build: Option<Command>,
    test: Option<Command>,
}

impl Said {
    fn read(&mut self, body: &[u8], turns: &[String]) {
        let body: Value = serde_json::from_slice(body).expect("a body");
        for message in body["messages"].as_array().expect("messages") {
            let text = text_of(&message["content"]);
            match message["role"].as_str() {
                Some("user") => {
                    let fits = turns.iter().rposition(|turn| text.contains(turn));
                    let fits = fits.and_then(|turn| {
                        let mut lines = text.lines();
                        let line = lines.find(|line| line.contains(&turns[turn]))?;
                        Some((turn, line.trim_matches('"').to_owned()))
                    });
                    let before = self.turn.take();
                    let before =
                        before.filter(|(turn, _)| fits.as_ref().is_none_or(|(it, _)| turn > it));
                    self.turn = before.or(fits);
                }
                Some("assistant") => self.read_calls(&message["tool_calls"]),
                Some("tool") => self.read_result(message, &text),
                _ => {}
            }
        }
    }

    fn read_calls(&mut self, calls: &Value) {
        for call in calls.as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            let line = arguments["command"].as_str();
            let line = line.or_else(|| arguments["commands"][0].as_str());
            if let (Some(id), Some(line)) = (call["id"].as_str(), line) {
                self.commands.insert(id.to_owned(), line.to_owned());
            }
        }
    }

    fn read_result(&mut self, message: &Value, text: &str) {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        // The editor of some clients calls what it does a command.
        let Some(line) = self
            .commands
            .get(id)
            .filter(|line| line.contains(' ') || *line == "make")
        else {
            return;
        };
        let command = Command {
            line: line.clone(),
            has_failed: text.contains("***") || text.contains("error:"),
        };
        match line.as_str() {
            "make" => self.build = Some(command.clone()),
            "make check" => self.test = Some(command.clone()),
            _ => {}
        }
        self.last = Some(command);
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| text_of(&part["text"]));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// How often something was derived, was left open, and was wrong.
#[derive(Default)]
struct Count {
    right: usize,
    open: usize,
    wrong: Vec<String>,
}

impl Count {
    fn add(&mut self, place: &str, derived: Option<&str>, is_right: impl Fn(&str) -> bool) {
        match derived {
            None => self.open += 1,
            Some(derived) if is_right(derived) => self.right += 1,
            Some(derived) => self.wrong.push(format!("{place}: {derived}")),
        }
    }
}

/// The user's messages in the script of the sessions.
fn turns() -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/sessions/c/session.txt");
    let script = fs::read_to_string(script).expect("the script");
    let turns = script
        .split("\n== ")
        .filter_map(|part| part.strip_prefix("turn\n"));
    turns.map(|turn| turn.trim().to_owned()).collect()
}

/// The last command line on record, with whether its result is there.
fn last_command(view: &StateView<'_>) -> Option<String> {
    let mut calls = view.state.at_hand().calls().rev();
    calls.find_map(|call| {
        call.result?;
        let arguments = String::from_utf8(view.artifact_content(call.arguments)?).ok()?;
        let mut parts = call_parts(&call.name, &arguments).into_iter();
        parts.find_map(|(part, line)| (part == CallPart::Shell).then_some(line))
    })
}

fn count(steps: &[RecordedStep], name: &str, turns: &[String], counts: &mut [Count; 6]) {
    let mut stage = Stage::new(Policy {
        workspace_root: recording::ROOT.into(),
        ..Policy::default()
    });
    stage.adopt_on_touch();
    let (mut said, store) = (Said::default(), MemoryStore::default());
    for (at, step) in steps.iter().enumerate() {
        let before = stage.ledger().len();
        let (episode, _) = session::step_through(&mut stage, step);
        store.append(&stage.ledger()[before..], Vec::new());
        let view = StateView {
            store: &store,
            ..stage.view()
        };
        let mut rows = view.state.episodes().iter();
        // Nothing is derived of a request of the client's own.
        let Some(row) = rows.find(|row| row.episode == episode) else {
            continue;
        };
        said.read(&step.body, turns);
        let place = format!("{name} {at}");
        let lines = goal::left_work(&view, row).lines();
        let line = |what: &str| lines.iter().find_map(|line| line.strip_prefix(what));
        let [request, command, test, build, ended, in_flight] = counts;
        if let Some((_, asked)) = &said.turn {
            let is_asked = |words: &str| {
                let words = words.split(" (before: ").last().unwrap_or_default();
                let words = words.trim_end_matches(')').trim_end_matches('…');
                asked.starts_with(words.trim_matches('"'))
            };
            request.add(&place, line("Asked last: "), is_asked);
        }
        if let Some(last) = &said.last {
            command.add(&place, last_command(&view).as_deref(), |it| it == last.line);
        }
        for (count, what, said) in [
            (test, "Last test run: `", &said.test),
            (build, "Last build: `", &said.build),
        ] {
            let Some(said) = said else { continue };
            let told = line(what).and_then(|it| it.split_once("`: "));
            count.add(&place, told.map(|(line, _)| line), |it| it == said.line);
            let outcome = told.map(|(_, outcome)| outcome);
            let outcome = outcome.filter(|it| !it.starts_with("its output does not tell"));
            ended.add(&place, outcome, |it| {
                it.starts_with("FAILED") == said.has_failed
            });
        }
        // The recorded edits leave nothing out, so no change of theirs is in flight.
        let flight = line("In flight: ").unwrap_or("nothing");
        in_flight.add(&place, Some(flight), |it| it == "nothing");
    }
}

/// What is derived is what the recorded sessions say.
#[test]
fn as_recorded() {
    let mut counts: [Count; 6] = Default::default();
    let turns = turns();
    for file in super::recordings() {
        let name = file.file_stem().expect("a name").to_string_lossy();
        let text = fs::read_to_string(&file).expect("a recording");
        count(&recording::read(&text).steps, &name, &turns, &mut counts);
    }
    let mut table = String::from("| derived | right | left open | wrong |\n|---|---|---|---|\n");
    let names = [
        "the request",
        "the last command",
        "the last test run",
        "the last build",
        "how each of the two ended",
        "the files in flight",
    ];
    for (name, count) in names.iter().zip(&counts) {
        let Count { right, open, wrong } = count;
        let _ = writeln!(table, "| {name} | {right} | {open} | {} |", wrong.len());
    }
    let wrong: Vec<&String> = counts.iter().flat_map(|count| &count.wrong).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/memory.md");
    let page = fs::read_to_string(page).expect("the page");
    assert!(
        page.contains(&table),
        "docs/memory.md lacks\n{table}\n{wrong:#?}"
    );
}
