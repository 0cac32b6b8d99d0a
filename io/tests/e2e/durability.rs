//! What was acknowledged survives a crash, damage is noticed, and nobody writes over evidence.

use std::path::Path;

use serde_json::{Value, json};
use tslp_core::hash::SliceHash;

use crate::harness::{
    CHAT, JSON, Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, failure, fenced, prompt,
    serving,
};
use crate::ledger_file::{self, damage, evidence, holds};
use crate::upstream::{Answer, Step, Upstream, closing, event};

/// A workspace with some history, and what `/state` showed at its end.
fn with_history(places: &Places, upstream: &Upstream) -> Value {
    let tslp = Tslp::start(places, upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    let state = tslp.state();
    tslp.stop();
    state
}

/// A prompt is on disk before the first byte of its reply.
#[test]
fn prompt_before_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (_told, stall) = closing();
    let steps = vec![Step::Chunk(event("first")), stall];
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt(&fenced("src/ring.c", RING)));
    client.until("first");
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.ended(1)["outcome"], "interrupted");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    assert_eq!(tslp.page("/doctor")["ok"], true);
}

#[test]
fn crash_and_restart() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    let (state, recent) = (tslp.state(), tslp.page("/recent"));
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state(), state);
    assert_eq!(tslp.page("/recent"), recent);
    assert_eq!(tslp.say("hello").episode(), 3);
}

/// law 3.3 | The State Map is rebuilt from Vault and ledger
/// law 3.3 | Rebuilt from Vault and ledger
#[test]
fn deleted_projections() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let state = with_history(&places, &upstream);
    let recent = {
        let connection = ledger_file::open(&places.data);
        let mut statement = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('ledger', 'meta')")
            .unwrap();
        let names: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(names.iter().any(|name| name == "vault"), "{names:?}");
        drop(statement);
        let (_, recent) = places.cli_json(&["recent"]);
        for name in names {
            connection
                .execute_batch(&format!("DROP TABLE \"{name}\""))
                .unwrap();
        }
        recent
    };
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state(), state);
    assert_eq!(tslp.page("/recent"), recent);
    assert!(tslp.log().contains("rebuilding"), "{}", tslp.log());
}

#[test]
fn contradicting_rows() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let state = with_history(&places, &upstream);
    ledger_file::forge_truth(&places.data, |truth| truth.slice = SliceHash([0; 32]));
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state(), state);
    assert!(
        tslp.log()
            .contains("a table was changed since it was written"),
        "{}",
        tslp.log()
    );
}

/// What is true of a file stays in its row until somebody asks, so the row may be another by then.
#[test]
fn changed_while_running() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let state = with_history(&places, &upstream);
    let tslp = Tslp::start(&places, &upstream);
    ledger_file::forge_truth(&places.data, |truth| truth.slice = SliceHash([0; 32]));
    let refused = tslp.chat(&prompt("what does `ring_put` do?"));
    assert_eq!(refused.status(), 400, "what is not there is not guessed");
    assert!(
        tslp.log()
            .contains("no longer holds what is true of src/ring.c"),
        "{}",
        tslp.log()
    );
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state(), state);
}

/// Archives are compared with what the events put, too.
#[test]
fn contradicting_archives() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let state = with_history(&places, &upstream);
    let first = "hash = (SELECT min(hash) FROM vault)";
    for forgery in [
        format!("DELETE FROM vault WHERE {first}"),
        format!("UPDATE vault SET \"end\" = \"end\" + 1 WHERE {first}"),
        "INSERT INTO vault VALUES (zeroblob(32), 'code', 1, NULL, 0, 1)".to_owned(),
        "INSERT INTO outdated VALUES (zeroblob(32), 1)".to_owned(),
    ] {
        let before = rows(&places, "vault");
        past_the_triggers(&places, &forgery);
        let (code, report) = places.cli_json(&["verify"]);
        assert_ne!(code, 0, "{forgery}: {report}");
        let said = report.to_string();
        assert!(said.contains("but the ledger says"), "{forgery}: {said}");
        // What is damaged is left alone: decisions are made again without it.
        let (_, report) = places.cli_json(&["verify", "--deep"]);
        assert_eq!(report["deep"]["differences"], json!([]), "{forgery}");
        assert_ne!(report["deep"]["decisions"], 0, "{forgery}");
        // A start from the tables leaves the archives to the scrub.
        ledger_file::distrust(&places.data);
        let tslp = Tslp::start(&places, &upstream);
        assert_eq!(tslp.state(), state, "{forgery}");
        assert!(
            tslp.log().contains("rebuilding the projections"),
            "{forgery}"
        );
        tslp.stop();
        assert_eq!(rows(&places, "vault"), before, "{forgery}");
        assert_eq!(places.cli_json(&["verify"]).0, 0, "{forgery}");
    }
}

fn rows(places: &Places, table: &str) -> i64 {
    let connection = ledger_file::open(&places.data);
    let count = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
        row.get(0)
    });
    count.unwrap()
}

/// Runs a statement that the triggers of the archives would refuse, and leaves the schema as it was.
pub(crate) fn past_the_triggers(places: &Places, sql: &str) {
    let connection = ledger_file::open(&places.data);
    let triggers: Vec<(String, String)> = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name <> 'ledger' ORDER BY rowid")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (name, _) in &triggers {
        connection
            .execute_batch(&format!("DROP TRIGGER {name}"))
            .unwrap();
    }
    connection.execute_batch(sql).unwrap();
    for (_, made) in &triggers {
        connection.execute_batch(made).unwrap();
    }
}

/// law 3.1 | The Vault holds what crossed the boundary by its hash, once, and nothing changes it
/// law 3.1 | Never modified
/// law 3.2 | Append-only
#[test]
fn immutable_ledger() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    let connection = ledger_file::open(&places.data);
    let refused = |sql: &str| {
        let error = connection.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains("append-only"), "{sql}: {error}");
    };
    refused("UPDATE ledger SET at = 0");
    refused("DELETE FROM ledger WHERE seq = 1");
    refused("INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE seq = 1");
}

fn check_safe_mode(places: &Places, upstream: &Upstream) {
    let before = evidence(&places.data);
    let tslp = Tslp::start(places, upstream);
    let refused = tslp.request(
        "POST",
        CHAT,
        &[JSON],
        prompt("hello").to_string().as_bytes(),
    );
    assert_eq!(refused.status(), 400);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "ledger_failed");
    assert_eq!(error["type"], "proxy_error");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("copy"), "{message}");
    let health = tslp.get("/health");
    assert_eq!(
        (health.status(), &health.json()["status"]),
        (200, &json!("ledger_failed"))
    );
    assert_eq!(health.json()["reason"].as_str(), Some(message));
    let doctor = tslp.page("/doctor");
    assert_eq!(doctor["ok"], false, "{doctor}");
    assert_eq!(doctor["checks"][0]["check"], "safe mode");
    assert_eq!(tslp.get("/v1/models").status(), 200);
    assert_eq!(upstream.next().line, "GET /v1/models HTTP/1.1");
    let printed = tslp.stop_with(3);
    assert!(printed.contains("SAFE MODE"), "{printed}");
    assert!(upstream.saw_nothing());
    let after = evidence(&places.data);
    let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| -> Vec<String> {
        files.keys().cloned().collect()
    };
    assert_eq!(names(&after), names(&before));
    assert!(after == before, "evidence was written to");
    let (code, doctor) = places.cli_json(&["doctor"]);
    assert_eq!((code, &doctor["ok"]), (5, &json!(false)), "{doctor}");
}

/// law 3.2 | The ledger is append-only and chained; no prompt holds it
/// law 15.8 | What contradicts the record stops the proxy until the user says what holds
/// law 15.8 | A contradiction stops the proxy until the user says what holds
#[test]
fn flipped_byte() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("a text that stands in the ledger once");
    upstream.next();
    tslp.stop();
    damage(&places.data, "a text that stands in the ledger once");
    ledger_file::distrust(&places.data);
    check_safe_mode(&places, &upstream);
}

/// A flipped byte in the WAL of a crashed process means safe mode.
#[test]
fn flipped_byte_in_wal() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("a text that stands in the ledger once");
    upstream.next();
    tslp.kill();
    assert!(places.data.join("ledger.db-wal").metadata().unwrap().len() > 0);
    damage(&places.data, "a text that stands in the ledger once");
    check_safe_mode(&places, &upstream);
}

/// A ledger with an event or two, changed by a statement that no program of ours makes.
fn check_changed_by(statement: &str) {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    while !upstream.saw_nothing() {
        upstream.next();
    }
    let (_, truth) = places.cli_json(&["state"]);
    let shell = ledger_file::open(&places.data);
    let anchor = "PRAGMA wal_checkpoint(TRUNCATE)";
    shell.execute_batch(statement).unwrap();
    let _: i64 = shell.query_row(anchor, [], |row| row.get(0)).unwrap();
    drop(shell);
    // A reader makes the WAL that the shell took away.
    assert_eq!(places.cli_json(&["verify"]).0, 3, "{statement}");
    check_safe_mode(&places, &upstream);
    assert_eq!(places.cli_json(&["state"]), (0, truth), "{statement}");
    let new = places.path("copied");
    let mut copy = places.in_workspace(&["copy"]);
    let copied = copy.arg(&new).output().unwrap();
    assert_eq!(copied.status.code(), Some(0), "{copied:?}");
    let events = ledger_file::events(&places.data);
    assert_eq!(ledger_file::events(&new), events, "{statement}");
}

/// A workspace in the file that the events contradict means safe mode.
#[test]
fn contradicted_workspace() {
    for change in [
        "UPDATE meta SET value = substr(value, 1, length(value) - 1) || 'f' WHERE key = 'workspace'",
        "UPDATE meta SET key = 'workspabe' WHERE key = 'workspace'",
        "UPDATE meta SET value = 'tslp-ledges' WHERE key = 'format'",
    ] {
        check_changed_by(change);
    }
}

#[test]
fn lost_tail_safe_mode() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    upstream.next();
    tslp.kill();
    std::fs::write(places.data.join("ledger.db-wal"), b"").unwrap();
    check_safe_mode(&places, &upstream);
}

#[test]
fn older_copy_safe_mode() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    upstream.next();
    tslp.stop();
    let old = evidence(&places.data);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("goodbye");
    upstream.next();
    tslp.stop();
    for (name, bytes) in old {
        if name != "ledger.anchor" {
            std::fs::write(places.data.join(name), bytes).unwrap();
        }
    }
    check_safe_mode(&places, &upstream);
}

/// law 13 | WAL, one file, one writer
/// law 3 | One SQLite database
#[test]
fn second_process() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (code, said) = failure(places.in_workspace(&serving(&upstream.url)));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("already, at http://127.0.0.1:"), "{said}");
    assert_eq!(tslp.say("hello").episode(), 1);
}

#[test]
fn other_workspace() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    let other = Places::new();
    let mut command = places.command(&serving(&upstream.url));
    command.arg("--workspace").arg(&other.workspace);
    command.arg("--data-dir").arg(&places.data);
    let (code, said) = failure(command);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("belongs to the workspace"), "{said}");
}

#[test]
fn workspace_unchanged() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let before = ledger_file::files(&places.workspace);
    with_history(&places, &upstream);
    assert_eq!(ledger_file::files(&places.workspace), before);
    assert!(holds(&before["src/ring.c"], "ring_put"));
}

#[test]
fn private_files() {
    use std::os::unix::fs::PermissionsExt;
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&places.data), 0);
    for name in ledger_file::files(&places.data).keys() {
        assert_eq!(mode(&places.data.join(name)), 0, "{name}");
    }
}

/// A disk that takes no more is told, and nothing acknowledged is lost.
#[test]
fn limited_file_size() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let limited = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new("/bin/sh");
    let served = places.in_workspace(&serving(&upstream.url));
    command.args(["-c", limited]).arg(served.get_program());
    command.args(served.get_args()).env_clear();
    command.env("HOME", places.path("home"));
    let tslp = Tslp::spawn(&places, command);
    let mut answered = 0;
    let refused = loop {
        let text = format!("{answered} {}", "incompressible or not ".repeat(1000));
        let response = tslp.request("POST", CHAT, &[JSON], prompt(&text).to_string().as_bytes());
        if response.status() != 200 {
            break response;
        }
        answered = response.episode();
        assert!(answered < 1000, "the limit is never met");
    };
    assert_eq!(refused.status(), 400, "{refused:?}");
    assert_eq!(refused.json()["error"]["code"], "ledger_failed");
    assert!(answered > 0);
    let again = tslp.request(
        "POST",
        CHAT,
        &[JSON],
        prompt("again").to_string().as_bytes(),
    );
    assert_eq!(again.status(), 400, "{again:?}");
    assert_eq!(tslp.get("/health").status(), 200);
    drop(tslp);
    // With space again, everything that was answered is there, and it goes on.
    let tslp = Tslp::start(&places, &upstream);
    let kept = tslp.last_episode()["episode_id"].as_u64().unwrap();
    assert!(kept >= answered, "{kept} of {answered}");
    assert_eq!(tslp.page("/doctor")["ok"], true);
    tslp.say("hello");
}

/// Crashes at any moment lose no prompt whose reply had begun.
#[test]
fn crashes_lose_no_prompt() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let mut begun = 0;
    for crash in 0..8 {
        let tslp = Tslp::start(&places, &upstream);
        let asking: Vec<_> = (0..8)
            .map(|number| {
                let code = RING.replace("ring_put", &format!("ring_put_{crash}_{number}"));
                tslp.asking(&prompt(&fenced("src/ring.c", &code)))
            })
            .collect();
        for mut client in asking.into_iter().take(crash + 1) {
            client.until("x-tslp-episode");
            begun += 1;
        }
        tslp.kill();
        let tslp = Tslp::start(&places, &upstream);
        assert_eq!(tslp.page("/doctor")["ok"], true);
        let recent = tslp.page("/recent?limit=64");
        assert!(recent["episodes"].as_array().unwrap().len() >= begun);
        let state = tslp.state();
        assert!(state.as_object().unwrap().len() >= begun, "{state}");
    }
}

/// Files that were taken away are noticed, and nothing more is acknowledged.
fn check_taken_away(take_away: impl Fn(&Places), by_a_prompt: bool) {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.at_rest();
    take_away(&places);
    if by_a_prompt {
        let refused = tslp.chat(&prompt("hello"));
        assert_ne!(refused.status(), 200, "{}", refused.text());
    }
    eventually(|| (tslp.page("/health")["status"] == "ledger_failed").then_some(()));
    let refused = tslp.chat(&prompt("hello again"));
    assert_eq!(refused.status(), 400);
    let said = refused.text();
    assert!(said.contains("while tslp had it open"), "{said}");
    tslp.kill();
}

fn remove(places: &Places, names: &[&str]) {
    for name in names {
        std::fs::remove_file(places.data.join(name)).unwrap();
    }
}

/// Files deleted under the proxy stop it, and they are copied.
#[test]
fn deleted_while_running() {
    check_taken_away(
        |places| remove(places, &["ledger.db", "ledger.db-wal", "ledger.db-shm"]),
        true,
    );
    check_taken_away(|places| remove(places, &["ledger.anchor"]), false);
    check_taken_away(
        |places| std::fs::remove_dir_all(&places.data).unwrap(),
        false,
    );
}

#[test]
fn deleted_without_prompt() {
    check_taken_away(|places| remove(places, &["ledger.db"]), false);
}

#[test]
fn wal_cut_while_running() {
    for by_a_prompt in [true, false] {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        tslp.say(&fenced("src/ring.c", RING));
        tslp.at_rest();
        let wal = std::fs::File::options()
            .write(true)
            .open(places.data.join("ledger.db-wal"))
            .unwrap();
        wal.set_len(0).unwrap();
        if by_a_prompt {
            assert_ne!(tslp.chat(&prompt("hello")).status(), 200);
        }
        eventually(|| (tslp.page("/health")["status"] == "ledger_failed").then_some(()));
        let said = tslp.chat(&prompt("hello again")).text();
        assert!(
            said.contains("was cut short while tslp had it open"),
            "{said}"
        );
    }
}

#[test]
fn deleted_wal() {
    check_taken_away(|places| remove(places, &["ledger.db-wal"]), true);
}

#[test]
fn deleted_data_directory() {
    check_taken_away(
        |places| std::fs::remove_dir_all(&places.data).unwrap(),
        true,
    );
}

#[test]
fn replaced_database() {
    let replace = |places: &Places| {
        let (path, copy) = (places.data.join("ledger.db"), places.data.join("copy"));
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
    };
    check_taken_away(replace, true);
}

/// "There is no ledger: `tslp serve` makes one", and "nothing is true yet", of a ledger that the user couldn't read.
#[test]
fn unreadable_ledger() {
    let places = Places::new();
    std::fs::create_dir_all(places.data.join("ledger.db")).unwrap();
    for command in ["state", "verify", "log", "recent", "undo"] {
        let (code, said) = failure(places.in_workspace(&[command]));
        assert_ne!(code, 0, "{command}");
        let explains = said.contains("ledger.db: ") && said.contains("your user");
        assert!(explains && !said.contains("disk I/O"), "{command}: {said}");
    }
}
