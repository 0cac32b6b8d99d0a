//! What was acknowledged survives a crash, damage is noticed, and nobody writes over evidence.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{
    CHAT, JSON, Places, RING, RING_BETTER, RING_PUT, Tslp, failure, fenced, prompt,
};
use crate::ledger_file::{self, evidence, holds};
use crate::upstream::{Reply, Step, Upstream, closing, event};

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

#[test]
fn a_prompt_is_on_disk_before_the_first_byte_of_its_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (_told, stall) = closing();
    let steps = vec![Step::Chunk(event("first")), stall];
    upstream.will(Reply::Steps(steps));
    let mut client = tslp.asking(&prompt(&fenced("src/ring.c", RING)));
    client.until("first");
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    let episode = tslp.last_episode();
    assert_eq!(episode["episode_id"], 1);
    assert_eq!(episode["outcome"], Value::Null);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    assert_eq!(tslp.page("/doctor")["ok"], true);
}

#[test]
fn a_crash_loses_nothing_and_the_next_process_goes_on() {
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

#[test]
fn deleted_projections_are_rebuilt_from_the_ledger() {
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
fn ledger_and_vault_refuse_every_change() {
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
    refused("UPDATE vault SET start = start + 1");
    refused("DELETE FROM vault");
}

/// Flips a byte of a recorded text wherever the data directory holds it.
fn damage(data: &Path, text: &str) {
    let mut damaged = 0;
    for (name, mut bytes) in evidence(data) {
        let Some(at) = bytes
            .windows(text.len())
            .position(|window| window == text.as_bytes())
        else {
            continue;
        };
        bytes[at] ^= 1;
        std::fs::write(data.join(name), bytes).unwrap();
        damaged += 1;
    }
    assert!(damaged > 0, "the data directory holds {text:?}");
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
    assert_eq!(refused.status(), 503);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "ledger_failed");
    assert_eq!(error["type"], "server_error");
    let message = error["message"].as_str().unwrap();
    let advice = ["backup", "copy", "salvage"];
    assert!(
        advice.iter().any(|word| message.contains(word)),
        "{message}"
    );
    assert_eq!(tslp.get("/health").json(), json!({"status": "ok"}));
    let doctor = tslp.page("/doctor");
    assert_eq!(doctor["ok"], false, "{doctor}");
    assert_eq!(doctor["checks"][0]["check"], "safe mode");
    assert_eq!(tslp.get("/v1/models").status(), 200);
    assert_eq!(upstream.next().line, "GET /v1/models HTTP/1.1");
    let printed = tslp.stop();
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

#[test]
fn a_flipped_byte_in_the_ledger_means_safe_mode_and_nothing_is_written() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("a text that stands in the ledger once");
    upstream.next();
    tslp.stop();
    damage(&places.data, "a text that stands in the ledger once");
    check_safe_mode(&places, &upstream);
}

#[test]
fn a_flipped_byte_in_the_log_of_a_crashed_process_means_safe_mode() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("a text that stands in the ledger once");
    upstream.next();
    tslp.kill();
    assert!(places.data.join("ledger.db-wal").metadata().unwrap().len() > 0);
    damage(&places.data, "a text that stands in the ledger once");
    check_safe_mode(&places, &upstream);
}

#[test]
fn a_lost_tail_means_safe_mode() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    upstream.next();
    tslp.kill();
    std::fs::write(places.data.join("ledger.db-wal"), b"").unwrap();
    check_safe_mode(&places, &upstream);
}

#[test]
fn an_older_copy_put_back_means_safe_mode() {
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

fn serve(upstream: &Upstream) -> [&str; 5] {
    let url = upstream.url.as_str();
    ["serve", "--listen", "127.0.0.1:0", "--upstream", url]
}

#[test]
fn a_second_process_on_the_same_ledger_is_refused() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (code, said) = failure(places.in_workspace(&serve(&upstream)));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("another tslp process (pid "), "{said}");
    assert_eq!(tslp.say("hello").episode(), 1);
}

#[test]
fn the_ledger_of_another_workspace_is_refused() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    let other = Places::new();
    let mut command = places.command(&serve(&upstream));
    command.arg("--workspace").arg(&other.workspace);
    command.arg("--data-dir").arg(&places.data);
    let (code, said) = failure(command);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("belongs to the workspace"), "{said}");
}

#[test]
fn the_workspace_is_never_written_to() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let before = ledger_file::files(&places.workspace);
    with_history(&places, &upstream);
    assert_eq!(ledger_file::files(&places.workspace), before);
    assert!(holds(&before["src/ring.c"], "ring_put"));
}
