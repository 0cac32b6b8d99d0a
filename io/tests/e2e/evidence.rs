//! The ledger read, explained, taken away and brought back: `log`, `why`, `export`, `import`, `backup`.

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
        "PROPOSED → AUTHORITATIVE (write_head)",
        "PROPOSED → AUTHORITATIVE (structural_parity)",
        "AUTHORITATIVE → SUPERSEDED (replaced)",
        "stays PROPOSED: elided (full_definition 0/1",
        "from the user, fence, path src/ring.c by info_string, full",
        "completed (stop)",
        "model m, 1 new message",
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
    for arguments in [&["why", RING_PUT][..], &["export"]] {
        let (code, _, stderr) = ran(places.in_workspace(arguments));
        assert_eq!(code, 3, "{arguments:?}: {stderr}");
    }
    for command in ["export", "backup"] {
        let to = places.path("taken");
        let (code, _, stderr) = ran(with_path(places.in_workspace(&[command]), &["--to"], &to));
        assert_eq!(code, 3, "{command}: {stderr}");
        assert!(!to.exists());
        assert_no_remnants(&places);
    }
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
        assert!(!name.to_string_lossy().starts_with(".tslp"), "{name:?}");
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
        "e1 s1: c1 from the user",
        "stays PROPOSED: elided (full_definition 0/1",
        "AUTHORITATIVE → SUPERSEDED",
        "on disk: not saved yet",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn export_and_import() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let printed = fine(&places, &["export"]);
    let file = places.path("ledger.jsonl");
    let to_file = || with_path(places.in_workspace(&["export"]), &["--to"], &file);
    assert_eq!(ran(to_file()).0, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    let (code, stderr) = failure(to_file());
    assert_eq!(
        (code, stderr.contains("exists already")),
        (1, true),
        "{stderr}"
    );

    let new = places.path("imported");
    let import = || {
        with_path(
            with_path(places.command(&["import"]), &[], &file),
            &["--to"],
            &new,
        )
    };
    let (code, _, stderr) = ran(import());
    assert_eq!(code, 0, "{stderr}");
    let (code, stderr) = failure(import());
    assert_eq!((code, stderr.contains("not empty")), (1, true), "{stderr}");
    let (_, state) = places.cli_json(&["state"]);
    let mut places = places;
    places.data = new;
    assert_eq!(fine(&places, &["export"]), printed);
    assert_eq!(places.cli_json(&["state"]), (0, state));
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("on it goes");
}

#[test]
fn changed_export() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let printed = fine(&places, &["export"]);
    let file = places.path("changed.jsonl");
    std::fs::write(
        &file,
        printed.replacen(ONCE, "a text that was put there", 1),
    )
    .unwrap();
    let line = printed
        .lines()
        .position(|line| line.contains(ONCE))
        .unwrap()
        + 1;
    let new = places.path("imported");
    let import = with_path(
        with_path(places.command(&["import"]), &[], &file),
        &["--to"],
        &new,
    );
    let (code, stderr) = failure(import);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(&format!("line {line}:")), "{stderr}");
    assert!(!new.exists());
    assert_no_remnants(&places);
}

/// A backup is taken while the proxy writes, and can serve in its place.
#[test]
fn backup_while_serving() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let file = places.path("backup.db");
    let take = || with_path(places.in_workspace(&["backup"]), &["--to"], &file);
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
    let copy = std::fs::read(&file).unwrap();
    let (code, stderr) = failure(take());
    assert_eq!(
        (code, stderr.contains("exists already")),
        (1, true),
        "{stderr}"
    );
    assert!(
        std::fs::read(&file).unwrap() == copy,
        "it was left as it is"
    );
    assert_no_remnants(&places);
    tslp.stop();

    let restored = places.path("restored");
    std::fs::create_dir(&restored).unwrap();
    std::fs::copy(&file, restored.join("ledger.db")).unwrap();
    let anchor = places.path("backup.db.anchor");
    std::fs::copy(&anchor, restored.join("ledger.anchor")).unwrap();
    let mut places = places;
    places.data = restored;
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    tslp.say("on it goes");
}

/// A killed backup leaves nothing that looks like one.
#[test]
fn killed_backup() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let root = places.data.parent().unwrap();
    let is_under_way = || {
        let mut names = std::fs::read_dir(root).unwrap();
        names.any(|entry| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().starts_with(".tslp-backup-")
        })
    };
    let file = places.path("backup.db");
    let take = || with_path(places.in_workspace(&["backup"]), &["--to"], &file);
    let mut child = take().stdout(Stdio::null()).spawn().unwrap();
    eventually(|| (is_under_way() || child.try_wait().unwrap().is_some()).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let anchor = places.path("backup.db.anchor");
    if file.exists() {
        // It was faster than the kill; then all of it is there.
        assert!(anchor.exists());
        let connection = rusqlite::Connection::open(&file).unwrap();
        let count = connection.query_row("SELECT count(*) FROM ledger", [], |row| row.get(0));
        assert_eq!(count, Ok(ledger_file::events(&places.data)));
    } else if !anchor.exists() {
        assert_eq!(ran(take()).0, 0, "and the next one isn't held up");
    }
}

#[test]
fn nothing_in_workspace() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    for command in ["export", "backup"] {
        let inside = places.workspace.join("taken");
        let (code, stderr) = failure(with_path(
            places.in_workspace(&[command]),
            &["--to"],
            &inside,
        ));
        assert_eq!(code, 2, "{command}: {stderr}");
        assert!(!inside.exists());
    }
    let file = places.path("ledger.jsonl");
    std::fs::write(&file, fine(&places, &["export"])).unwrap();
    let inside = places.workspace.join("data");
    let import = with_path(
        with_path(places.command(&["import"]), &[], &file),
        &["--to"],
        &inside,
    );
    assert_eq!(failure(import).0, 2);
    assert!(!inside.exists());
}

#[test]
fn without_ledger() {
    let places = Places::new();
    for arguments in [&["log"][..], &["why", "a.c::f"], &["export"]] {
        let (code, said) = failure(places.in_workspace(arguments));
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("there is no ledger"), "{said}");
    }
    assert!(!places.data.exists());
}
