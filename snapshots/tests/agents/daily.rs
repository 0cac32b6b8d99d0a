//! An agent at work while its files move: somebody edits by hand, formats on save, undoes, checks out another branch.
//!
//! `DAILY_PROJECT=/usr/src/lua cargo nextest run -p tslp-snapshots --no-capture daily_life` plays the same on other sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tslp_core::extract::Grammars as _;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;
use tslp_grammars::TreeSitterGrammars;
use tslp_snapshots::recording::{ROOT, RecordedEdit, RecordedStep};

use super::price;
use super::session::{self, Session};

/// What the proxy may make a model server read, in parts of what it reads without.
const RATIO_MAX: f64 = 1.10;

/// Files that a project has at most.
const FILES_MAX: usize = 40;

/// A change of one number in a definition.
#[derive(Clone)]
struct Change {
    symbol: String,
    old: String,
    new: String,
}

/// The changes that can be made in a file, in order.
fn changes_in(path: &str, text: &str) -> Vec<Change> {
    let grammars = TreeSitterGrammars;
    let language = grammars.language_of_path(&RelPath::from_normalised(path));
    let extraction = language.map(|it| grammars.extract(it, text.as_bytes()));
    let Some(Ok(extraction)) = extraction else {
        return Vec::new();
    };
    let mut from = 0;
    let mut changes = Vec::new();
    for line in text.split_inclusive('\n') {
        let range = from..from + line.len();
        from = range.end;
        let around = extraction.definitions.iter().filter(|definition| {
            (definition.span.start as usize) < range.start
                && range.end <= definition.span.end as usize
        });
        let Some(innermost) = around.min_by_key(|it| it.span.end - it.span.start) else {
            continue;
        };
        let mut others = extraction.definitions.iter();
        let holds_others = others.any(|other| {
            innermost.span.start < other.span.start && other.span.end <= innermost.span.end
        });
        if holds_others {
            continue;
        }
        let number = line.find(|c: char| c.is_ascii_digit()).filter(|at| {
            let before = line[..*at].chars().next_back();
            let is_code = !line.contains(['"', '\'', '#', '/', '*', '@']);
            is_code && before.is_some_and(|c| " (+-=<>[".contains(c))
        });
        if let Some(at) = number
            && text.matches(line).count() == 1
        {
            changes.push(Change {
                symbol: innermost.symbol.to_string(),
                old: line.to_owned(),
                new: format!("{}1{}", &line[..at], &line[at..]),
            });
        }
    }
    changes
}

/// A project, an agent's conversation about it, and the requests so far.
struct Day {
    tree: BTreeMap<String, String>,
    messages: Vec<Value>,
    steps: Vec<RecordedStep>,
    /// Files that changed since the last request.
    changed: BTreeSet<String>,
    turns: usize,
}

impl Day {
    fn new(tree: BTreeMap<String, String>) -> Self {
        let changed = tree.keys().cloned().collect();
        let mut day = Self {
            tree,
            changed,
            messages: Vec::new(),
            steps: Vec::new(),
            turns: 0,
        };
        day.begin_conversation();
        day
    }

    fn begin_conversation(&mut self) {
        // Of clients' system prompts and tools it is a short one: OpenCode's have 31,000 characters, Claude Code's 85,000.
        let system = "You are an agent. Use the tools. ".repeat(800);
        self.messages = Vec::from([json!({"role": "system", "content": system})]);
    }

    /// The model's next reply: what it says and calls, and what comes of each call.
    fn reply(
        &mut self,
        text: &str,
        calls: &[(&str, Value, String)],
        edits: Vec<RecordedEdit>,
        written: Vec<(String, Option<String>)>,
    ) {
        let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let tools = ["read", "edit", "write", "bash"].map(tool);
        let body = json!({
            "model": "m", "stream": true, "messages": self.messages,
            "tools": tools,
        });
        let changed = std::mem::take(&mut self.changed).into_iter();
        let files = changed.map(|path| (path.clone(), self.tree.get(&path).cloned()));
        self.steps.push(RecordedStep {
            files: files.collect(),
            written,
            body: body.to_string().into_bytes(),
            text: text.to_owned(),
            calls: calls
                .iter()
                .map(|(name, arguments, _)| ToolCall {
                    id: String::new(),
                    name: (*name).to_owned(),
                    arguments: arguments.to_string(),
                })
                .collect(),
            edits,
        });
        let number = self.steps.len();
        let mut message = json!({"role": "assistant", "content": text});
        let results = calls.iter().enumerate();
        if !calls.is_empty() {
            let calls = results.clone().map(|(at, (name, arguments, _))| {
                json!({"id": format!("call_{number}_{at}"), "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}})
            });
            message["tool_calls"] = calls.collect();
        }
        self.messages.push(message);
        self.messages.extend(results.map(|(at, (_, _, result))| {
            json!({"role": "tool", "tool_call_id": format!("call_{number}_{at}"), "content": result})
        }));
    }

    fn say(&mut self, text: &str) {
        self.turns += 1;
        let text = format!("Turn {}: {text}", self.turns);
        self.messages.push(json!({"role": "user", "content": text}));
    }

    fn read(&mut self, paths: &[String]) {
        let call = |path: &String| {
            let lines = self.tree[path].lines().enumerate();
            let lines: Vec<String> = lines
                .map(|(at, line)| format!("{}: {line}", at + 1))
                .collect();
            let path = format!("{ROOT}/{path}");
            let result = format!(
                "<path>{path}</path>\n<type>file</type>\n<content>\n{}\n\n(End of file - total {} lines)\n</content>",
                lines.join("\n"),
                lines.len()
            );
            ("read", json!({"filePath": path}), result)
        };
        let calls: Vec<_> = paths.iter().map(call).collect();
        self.reply("", &calls, Vec::new(), Vec::new());
    }

    /// The change that is made next in a file, if there is one.
    fn change(&self, path: &str, number: usize) -> Option<Change> {
        let changes = changes_in(path, &self.tree[path]);
        let at = number % changes.len().max(1);
        changes.get(at).cloned()
    }

    /// Each of the changes is a call of one reply. `early`: the client runs each before the reply is over.
    fn edit(&mut self, changes: &[(String, Change)], early: bool) {
        let mut calls = Vec::new();
        let mut edits = Vec::new();
        for (path, change) in changes {
            let text = self.tree[path].replacen(&change.old, &change.new, 1);
            self.tree.insert(path.clone(), text);
            let arguments = json!({"filePath": format!("{ROOT}/{path}"), "oldString": change.old, "newString": change.new});
            calls.push(("edit", arguments, "Edit applied successfully.".to_owned()));
            edits.push(RecordedEdit {
                entities: Vec::from([format!("{path}::{}", change.symbol)]),
                is_healthy: true,
            });
        }
        let written = changes.iter().map(|(path, _)| path);
        let written = written.map(|path| (path.clone(), self.tree.get(path).cloned()));
        let written: Vec<_> = written.filter(|_| early).collect();
        // What isn't on disk yet comes with the next request.
        let now = self.changed.clone();
        let is_late = |path: &String| !early && !now.contains(path);
        let late: Vec<String> = changes.iter().map(|(path, _)| path.clone()).collect();
        let late: Vec<String> = late.into_iter().filter(is_late).collect();
        self.reply("", &calls, edits, written);
        self.changed.extend(late);
    }

    /// A turn in which the model reads a file and changes one of its definitions.
    fn turn(&mut self, path: &str, number: usize) {
        let Some(change) = self.change(path, number) else {
            return;
        };
        let name = change.symbol.rsplit(['.', ':']).next().unwrap_or_default();
        self.say(&format!("change the number in `{name}` of {path}."));
        self.read(&[path.to_owned()]);
        self.edit(&[(path.to_owned(), change)], false);
        self.reply("Done.", &[], Vec::new(), Vec::new());
    }

    /// Somebody else's text for a file.
    fn outside(&mut self, path: &str, text: String) {
        self.tree.insert(path.to_owned(), text);
        self.changed.insert(path.to_owned());
    }

    fn by_hand(&mut self, path: &str, number: usize) {
        if let Some(change) = self.change(path, number) {
            let text = self.tree[path].replacen(&change.old, &change.new, 1);
            self.outside(path, text);
        }
    }

    fn files(&self) -> Vec<String> {
        let files = self.tree.keys();
        let mut files: Vec<String> = files.cloned().collect();
        files.retain(|path| !changes_in(path, &self.tree[path]).is_empty());
        files
    }
}

/// What came of a day.
struct Outcome {
    session: Session,
    ratio: f64,
    healthy: usize,
    true_edits: usize,
    notices: usize,
}

impl Outcome {
    #[allow(clippy::print_stderr)]
    fn of(name: &str, day: Day) -> Self {
        let session = session::play_steps(name, day.steps);
        let exchanges = || session.exchanges.iter();
        let sum = |prices: Vec<usize>| {
            f64::from(u32::try_from(prices.iter().sum::<usize>()).expect("few"))
        };
        let direct = sum(price::read_anew(exchanges().map(|it| &it.client[..])));
        let sent = sum(price::read_anew(exchanges().map(|it| &it.sent[..])));
        let marks = |body: &[u8]| {
            String::from_utf8_lossy(body)
                .matches("[STATE NOTICE]")
                .count()
        };
        let counts: Vec<usize> = exchanges().map(|it| marks(&it.sent)).collect();
        let new = counts.iter().zip([0].iter().chain(&counts));
        let outcome = Self {
            ratio: sent / direct,
            healthy: session.edits().count(),
            true_edits: session.edits().filter(|(_, it)| it.became_true).count(),
            notices: new.map(|(now, before)| now.saturating_sub(*before)).sum(),
            session,
        };
        eprintln!(
            "{name}: {} of {} edits true, {} notices, {:.3} times as much read",
            outcome.true_edits, outcome.healthy, outcome.notices, outcome.ratio
        );
        outcome
    }

    fn hold(&self, notices_max: usize) {
        let missed = self.session.edits().filter(|(_, it)| !it.became_true);
        let missed: Vec<String> = missed
            .map(|(step, edit)| {
                let why = self.session.exchanges[step].reasons();
                format!("step {step}: {}: {why}", edit.entities())
            })
            .collect();
        let name = &self.session.name;
        assert!(20 * missed.len() <= self.healthy, "{name}: {missed:#?}");
        assert!(self.ratio <= RATIO_MAX, "{name}: {}", self.ratio);
        assert!(
            self.notices <= notices_max,
            "{name}: {} notices",
            self.notices
        );
    }
}

/// Sources that can be changed, with their paths.
fn project() -> BTreeMap<String, String> {
    fn visit(folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut entries: Vec<PathBuf> = entries.map(|it| it.expect("a file").path()).collect();
        entries.sort();
        for path in entries {
            match path.is_dir() {
                true => visit(&path, found),
                false => found.push(path),
            }
        }
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents");
    // A conversation of sixty turns takes its time in a debug build.
    let (root, bytes_max) = match std::env::var_os("DAILY_PROJECT") {
        Some(other) => (PathBuf::from(other), 20_000),
        None => (own, 3_500),
    };
    let mut found = Vec::new();
    visit(&root, &mut found);
    let files = found.into_iter().filter_map(|path| {
        let name = path
            .strip_prefix(&root)
            .expect("beneath")
            .to_str()?
            .to_owned();
        let text = fs::read_to_string(&path).ok()?;
        let is_small = text.len() <= bytes_max;
        (is_small && changes_in(&name, &text).len() >= 3).then_some((name, text))
    });
    files.take(FILES_MAX).collect()
}

/// Every fifth turn edits another file by hand, so after forty turns each of the eight files was
/// edited, and eight more have the model work once on each. A shorter day misses the last files.
#[test]
fn edits_by_hand() {
    let mut day = Day::new(project());
    let files = day.files();
    for turn in 0..48 {
        let path = &files[turn * 7 % files.len().min(8)];
        if turn % 5 == 4 {
            let other = &files[turn * 3 % files.len().min(8)];
            day.by_hand(other, turn + 1);
        }
        day.turn(path, turn);
    }
    Outcome::of("edits by hand", day).hold(12);
}

#[test]
fn formatter_on_save() {
    let mut day = Day::new(project());
    let files = day.files();
    for turn in 0..15 {
        let path = files[turn * 5 % files.len().min(6)].clone();
        day.turn(&path, turn);
        // Two blank lines in the place of each.
        let text = day.tree[&path].replace("\n\n\n", "\n\n");
        let text = text.replace("\n\n", "\n\n\n");
        day.tree.insert(path.clone(), text);
        day.changed.insert(path);
    }
    // An edit of the model's and the formatter's work on it between two looks are told once.
    Outcome::of("a formatter on save", day).hold(4);
}

#[test]
fn after_an_undo() {
    let mut day = Day::new(project());
    let before = day.tree.clone();
    let files = day.files();
    for (turn, path) in files.iter().take(4).enumerate() {
        day.turn(path, turn);
    }
    for (path, text) in &before {
        if day.tree[path] != *text {
            day.outside(path, text.clone());
        }
    }
    day.begin_conversation();
    for (turn, path) in files.iter().take(4).enumerate() {
        day.turn(path, turn + 1);
    }
    Outcome::of("an undo", day).hold(4);
}

#[test]
fn parallel_edits() {
    let mut day = Day::new(project());
    let files = day.files();
    for turn in 0..6 {
        let path = files[turn % files.len().min(4)].clone();
        let mut changes = changes_in(&path, &day.tree[&path]);
        changes.dedup_by(|one, other| one.symbol == other.symbol);
        changes.truncate(3);
        let changes: Vec<_> = changes.into_iter().map(|it| (path.clone(), it)).collect();
        day.say(&format!("change three numbers in {path}."));
        day.read(std::slice::from_ref(&path));
        day.edit(&changes, true);
        day.reply("Done.", &[], Vec::new(), Vec::new());
    }
    Outcome::of("parallel edits", day).hold(0);
}

#[test]
fn unparsable_file() {
    let mut tree = project();
    let path = tree.keys().next().expect("a file").clone();
    let broken = format!("{}\nx = = 2\n", tree[&path]);
    tree.insert(path.clone(), broken);
    let mut day = Day::new(tree);
    for turn in 0..13 {
        if turn == 4 {
            day.by_hand(&path, 2);
        }
        day.turn(&path, turn);
    }
    Outcome::of("a file that does not parse", day).hold(1);
}

#[test]
fn after_a_checkout() {
    let text = |number: usize, version: usize| {
        format!(
            "int a{number}(int x) {{\n    return x +\n        {version};\n}}\n\nint b{number}(int x) {{\n    return x -\n        {};\n}}\n",
            version + 1
        )
    };
    let path = |number: usize| format!("src/f{number}.c");
    let tree = (0..130).map(|number| (path(number), text(number, 1)));
    let mut day = Day::new(tree.collect());
    let files: Vec<String> = day.tree.keys().cloned().collect();
    for some in files.chunks(10) {
        day.say("read on.");
        day.read(some);
        day.reply("Read.", &[], Vec::new(), Vec::new());
    }
    for number in 0..130 {
        day.outside(&path(number), text(number, 3));
    }
    for turn in 0..5 {
        day.turn(&files[turn * 20], turn);
    }
    Outcome::of("a checkout", day).hold(2);
}
