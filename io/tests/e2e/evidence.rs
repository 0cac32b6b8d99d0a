//! The ledger read, explained, taken away and brought back: `log`, `why`, `copy`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tslp_core::event::EventKind;

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, failure, fenced};
use crate::ledger_file::{self, damage, evidence};
use crate::upstream::Upstream;

const ONCE: &str = "a text that stands in the ledger once";

/// A paste, a refused lazy edit, a promotion, an editor that didn't follow, and [`ONCE`].
fn with_history(upstream: &Upstream) -> Places {
    let places = Places::new();
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced(
        "src/ring.c",
        "int ring_put(struct ring *r, int value) {\n    // ... rest unchanged ...\n}\n",
    ));
    tslp.say("improve `ring_put`");
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`, in full");
    tslp.say(&format!("{ONCE}: what does `ring_put` do?"));
    tslp.stop();
    places
}

/// What a command printed, and its exit code.
fn ran(mut command: Command) -> (i32, String, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn fine(places: &Places, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = ran(places.in_workspace(arguments));
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    stdout
}

fn with_path(mut command: Command, arguments: &[&str], path: &Path) -> Command {
    command.args(arguments).arg(path);
    command
}

/// The kinds of the events that `tslp log ARGUMENTS --json` prints.
fn kinds(places: &Places, arguments: &[&str]) -> Vec<String> {
    let arguments = [&["log", "--json"], arguments].concat();
    let lines = fine(places, &arguments);
    let events = lines.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["kind"].as_str().unwrap().to_owned()
    });
    events.collect()
}

#[test]
fn log_in_words() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let log = fine(&places, &["log", "--limit", "0"]);
    for words in [
        "true now: src/ring.c::ring_put, from the user (write_head)",
        "true now: src/ring.c::ring_put, from the model (structural_parity)",
        "replaced: src/ring.c::ring_put (replaced)",
        "refused: src/ring.c::ring_put (elided; full_definition 0/1",
        "evidence info_string, path src/ring.c, completeness full",
        "finish_reason stop",
        "model m, messages (role user",
        ONCE,
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    let events = ledger_file::events(&places.data);
    assert_eq!(log.lines().count() as i64, events);
    let last = fine(&places, &["log", "--limit", "2"]);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(last.lines().collect::<Vec<_>>(), lines[lines.len() - 2..]);
}

#[test]
fn the_log_is_filtered() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    assert_eq!(
        kinds(
            &places,
            &["--reason", "elided", "--kind", "promotion_refused"]
        ),
        ["promotion_refused"]
    );
    let first = kinds(&places, &["--episode", "1", "--kind", "transitioned"]);
    assert_eq!(first, ["transitioned"; 2], "the file and its function");
    let moved = kinds(&places, &["--entity", RING_PUT, "--kind", "transitioned"]);
    assert!(moved.len() >= 3, "{moved:?}");
    assert_eq!(
        kinds(
            &places,
            &[
                "--entity",
                "./src/ring.c::ring_put",
                "--kind",
                "transitioned"
            ]
        ),
        moved
    );
    assert_eq!(
        kinds(&places, &["--session", "2", "--kind", "prompt_received"]),
        ["prompt_received"]
    );
    assert_eq!(kinds(&places, &["--until", "1d"]), [""; 0]);
    let all = kinds(&places, &["--since", "1d", "--limit", "0"]);
    assert_eq!(all.len() as i64, ledger_file::events(&places.data));
}

#[test]
fn wrong_names() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    for (arguments, code, said) in [
        (
            ["log", "--kind", "transitoned"],
            2,
            "did you mean `transitioned`?",
        ),
        (
            ["log", "--reason", "symbol_lost"],
            2,
            "did you mean `symbols_lost`?",
        ),
        (["log", "--since", "yesterday"], 2, "no moment"),
        (["log", "--entity", "src/ring.c::ring_putt"], 1, RING_PUT),
    ] {
        let (found, stderr) = failure(places.in_workspace(&arguments));
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let (code, stderr) = failure(places.in_workspace(&["why", "src/ring.c::ring_pat"]));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(RING_PUT), "{stderr}");
}

#[test]
fn log_up_to_damage() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    damage(&places.data, ONCE);
    let before = evidence(&places.data);
    let (code, stdout, stderr) = ran(places.in_workspace(&["log", "--limit", "0"]));
    assert_eq!(code, 3, "{stderr}");
    assert!(stdout.contains("(structural_parity)"), "{stdout}");
    assert!(!stdout.contains("stands in the ledger once"), "{stdout}");
    assert!(stderr.contains("damaged"), "{stderr}");
    let (code, _, stderr) = ran(places.in_workspace(&["why", RING_PUT]));
    assert_eq!(code, 3, "{stderr}");
    assert!(evidence(&places.data) == before, "evidence was written to");
}

/// The last events are read without those long before them.
#[test]
fn last_events_alone() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    for number in 0..400 {
        let function = format!("int f{number}(void) {{ return {number}; }}\n");
        places.write(&format!("src/many/{number}.c"), &function);
    }
    fine(&places, &["adopt", "src/many"]);
    let asked = [
        &["log", "--limit", "20"][..],
        &["log", "--kind", "versions_promoted", "--limit", "1"],
    ];
    let before = asked.map(|arguments| fine(&places, arguments));
    assert!(before[0].contains("src/many/"), "{}", before[0]);
    ledger_file::open(&places.data)
        .execute_batch(
            "DROP TRIGGER ledger_refuses_update; UPDATE ledger SET payload = x'00' WHERE seq = 2",
        )
        .unwrap();
    assert_eq!(asked.map(|arguments| fine(&places, arguments)), before);
    // What doesn't lie at the end is looked for before it, where the damage is.
    for arguments in [
        &["log", "--limit", "0"][..],
        &["log", "--limit", "9999"],
        &["log", "--entity", "src/ring.c"],
    ] {
        let (code, _, stderr) = ran(places.in_workspace(arguments));
        assert_eq!(code, 3, "{arguments:?}: {stderr}");
    }
}

fn assert_no_remnants(places: &Places) {
    let root = places.data.parent().unwrap();
    for entry in std::fs::read_dir(root).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_string_lossy().ends_with(".tslp-copy"), "{name:?}");
    }
}

/// A lost tail is told after what is left.
#[test]
fn lost_tail() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let events = ledger_file::events(&places.data);
    let connection = ledger_file::open(&places.data);
    connection
        .execute_batch(&format!(
            "DROP TRIGGER ledger_refuses_delete; DELETE FROM ledger WHERE seq = {events}"
        ))
        .unwrap();
    drop(connection);
    let (code, stdout, stderr) = ran(places.in_workspace(&["log", "--limit", "0"]));
    assert_eq!(code, 3, "{stderr}");
    assert_eq!(stdout.lines().count() as i64, events - 1);
    assert!(stderr.contains("lost acknowledged events"), "{stderr}");
}

/// A process and the lines that it prints.
fn following(places: &Places) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = places.in_workspace(&["log", "--follow", "--json", "--limit", "1"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

#[test]
fn followed_log() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    let (mut child, mut lines) = following(&places);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    tslp.say(&fenced("src/ring.c", RING));
    while !line.contains("\"transition\":\"promote\"") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it goes on");
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let status = eventually(|| child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
}

/// A followed log ends when nobody reads it any more.
#[test]
fn unread_followed_log() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    let (mut child, mut lines) = following(&places);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    drop(lines);
    let status = eventually(|| child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}

/// Makes all events of some episodes unreadable that are far from any about a file; texts stay, which others may share.
fn lose_events(places: &Places, file: &str, episodes: [i64; 2]) -> usize {
    let database = ledger_file::open(&places.data);
    let refusal: String = database
        .query_row(
            "SELECT sql FROM sqlite_schema WHERE name = 'ledger_refuses_update'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    database
        .execute_batch("DROP TRIGGER ledger_refuses_update")
        .unwrap();
    let mut numbers = tslp_migrations::NUMBERS.iter();
    let is_content = |number: &&u32| tslp_migrations::kind_of(**number) == Some(EventKind::Content);
    let content = numbers.rfind(is_content).unwrap();
    let lose =
        "UPDATE ledger SET payload = x'00' WHERE episode BETWEEN ?1 AND ?2 AND abs(kind) <> ?3
                AND seq / 64 NOT IN (SELECT stretch FROM file_mentions WHERE path = ?4)";
    let lost = database.execute(lose, (episodes[0], episodes[1], content, file));
    database.execute_batch(&refusal).unwrap();
    lost.unwrap()
}

/// A story and a sent prompt are read without the rest of the ledger.
#[test]
fn partial_reads() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    for number in 0..16 {
        let other = format!("int other{number}(void) {{ return 1; }}\n");
        tslp.say(&fenced("src/other.c", &other));
    }
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`, in full");
    tslp.say("what does `ring_put` do?");
    tslp.stop();
    let asked = [
        &["why", RING_PUT, "--json"][..],
        &["why", "src/ring.c", "--json"],
        &["show-prompt", "18"],
    ];
    let before = asked.map(|arguments| fine(&places, arguments));
    assert!(before[0].contains("supersede"), "{}", before[0]);
    assert!(lose_events(&places, "src/ring.c", [2, 17]) > 50);
    let after = asked.map(|arguments| fine(&places, arguments));
    assert_eq!(after, before);
    let (code, _, error) = ran(places.in_workspace(&["why", "src/other.c"]));
    assert_eq!(code, 3, "what is lost is missed: {error}");
}

/// What made an entity what it is is told in order, up to now.
#[test]
fn story_of_an_entity() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let (code, story) = places.cli_json(&["why", RING_PUT]);
    assert_eq!(code, 0, "{story}");
    // The twelve digits that a prompt shows mean the same.
    let artifact = story["now"][RING_PUT]["artifact"].as_str().unwrap();
    let (code, same) = places.cli_json(&["why", &artifact[..12]]);
    assert_eq!((code, &same), (0, &story));
    assert_eq!(failure(places.in_workspace(&["why", "0000000000"])).0, 1);
    let told = story["events"].as_array().unwrap();
    let kinds: Vec<&str> = told.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    let first = [
        "disk_observed",
        "artifact_captured",
        "artifact_resolved",
        "transitioned",
    ];
    assert_eq!(kinds[..4], first, "{story}");
    assert!(kinds.contains(&"promotion_refused"), "{story}");
    let did = |word| told.iter().any(|it| it["event"]["transition"] == word);
    assert!(did("promote") && did("supersede"), "{story}");
    // They are the log's, each as the log prints it.
    let log = fine(&places, &["log", "--limit", "0", "--json"]);
    let log: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(told.iter().all(|event| log.contains(event)), "{story}");
    // A name that only one entity bears is enough, here and for the log.
    let log = |name: &str| {
        let output = places.in_workspace(&["log", "--entity", name]).output();
        output.unwrap().stdout
    };
    assert!(!log(RING_PUT).is_empty());
    assert_eq!(log("ring_put"), log(RING_PUT));
    let (_, state) = places.cli_json(&["state"]);
    let now = &state["entities"][RING_PUT];
    assert_eq!(&story["now"][RING_PUT], now);
    assert_eq!(now["stale"], false);
    assert_eq!(now["disk"], "not_saved");
    let words = fine(&places, &["why", "ring_put"]);
    for part in [
        RING_PUT,
        "e1    true now: src/ring.c::ring_put, from the user (the user supplied the code)",
        "refused: src/ring.c::ring_put (a placeholder replaces code",
        "replaced: src/ring.c::ring_put",
        "on disk: not saved yet",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

const EVERYTHING: [&str; 4] = ["log", "--json", "--limit", "0"];

#[test]
fn lines_and_back() {
    let upstream = Upstream::start();
    let mut places = with_history(&upstream);
    let printed = fine(&places, &EVERYTHING);
    let file = places.path("ledger.jsonl");
    std::fs::write(&file, &printed).unwrap();
    let (_, state) = places.cli_json(&["state"]);
    places.data = places.path("imported");
    let copy = || with_path(places.in_workspace(&["copy"]), &["--from"], &file);
    let (code, _, stderr) = ran(copy());
    assert_eq!(code, 0, "{stderr}");
    let (code, stderr) = failure(copy());
    assert_eq!((code, stderr.contains("not empty")), (1, true), "{stderr}");
    assert_eq!(fine(&places, &EVERYTHING), printed);
    assert_eq!(places.cli_json(&["state"]), (0, state));
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("on it goes");
}

#[test]
fn changed_lines() {
    let upstream = Upstream::start();
    let mut places = with_history(&upstream);
    let printed = fine(&places, &EVERYTHING);
    let file = places.path("changed.jsonl");
    std::fs::write(
        &file,
        printed.replacen(ONCE, "a text that was put there", 1),
    )
    .unwrap();
    let line = printed.lines().position(|line| line.contains(ONCE));
    let line = line.unwrap() + 1;
    places.data = places.path("imported");
    let copy = with_path(places.in_workspace(&["copy"]), &["--from"], &file);
    let (code, stderr) = failure(copy);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(&format!("line {line}:")), "{stderr}");
    assert!(!places.data.exists());
    assert_no_remnants(&places);
}

/// A copy is made while the proxy writes, can serve in its place, and is brought back.
#[test]
fn copy_while_serving() {
    let (mut places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let to = places.path("copy");
    let take = || with_path(places.in_workspace(&["copy"]), &[], &to);
    let mut taking = take()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The proxy goes on, whatever the copy does.
    let status = eventually(|| {
        tslp.say("and on");
        taking.try_wait().unwrap()
    });
    let mut stderr = String::new();
    let pipe = taking.stderr.as_mut().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    assert_eq!(status.code(), Some(0), "{stderr}");
    let copied = ledger_file::files(&to);
    let (code, stderr) = failure(take());
    assert_eq!((code, stderr.contains("not empty")), (1, true), "{stderr}");
    assert!(ledger_file::files(&to) == copied, "it was left as it is");
    assert_no_remnants(&places);
    tslp.stop();
    places.data = places.path("restored");
    let restored = ran(with_path(places.in_workspace(&["copy"]), &["--from"], &to));
    assert_eq!(restored.0, 0, "{}", restored.2);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    tslp.say("on it goes");
}

#[test]
fn nothing_in_workspace() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let inside = places.workspace.join("taken");
    let (code, stderr) = failure(with_path(places.in_workspace(&["copy"]), &[], &inside));
    assert_eq!(code, 2, "{stderr}");
    assert!(!inside.exists());
}

#[test]
fn without_ledger() {
    let places = Places::new();
    for arguments in [&["log"][..], &["why", "a.c::f"], &["copy", "x"]] {
        let (code, said) = failure(places.in_workspace(arguments));
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("there is no ledger"), "{said}");
    }
    assert!(!places.data.exists());
}
