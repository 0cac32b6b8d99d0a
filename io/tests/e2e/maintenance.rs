//! Looking at a ledger, folding it anew, and taking what is valid out of a damaged one.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use tslp_core::ids::Seq;
use tslp_projections::file_code::TrueEntity;

use crate::harness::{Places, RING, RING_PUT, Tslp, failure, fenced};
use crate::ledger_file::{self, damage, evidence};
use crate::upstream::Upstream;

const ONCE: &str = "a text that stands in the ledger once";

/// A workspace whose ledger holds a paste and, after it, [`ONCE`].
fn with_history(upstream: &Upstream) -> Places {
    let places = Places::new();
    let tslp = Tslp::start(&places, upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.say(ONCE);
    tslp.stop();
    places
}

fn copying(places: &Places, to: &Path) -> Command {
    let mut command = places.in_workspace(&["copy"]);
    command.arg(to);
    command
}

#[test]
fn sound_ledger() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let before = evidence(&places.data);
    let (code, report) = places.cli_json(&["verify"]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["ok"], true, "{report}");
    assert!(evidence(&places.data) == before, "evidence was written to");
    let _tslp = Tslp::start(&places, &upstream);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

#[test]
fn rows_changed_by_hand() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let (_, state) = places.cli_json(&["state"]);
    let connection = ledger_file::open(&places.data);
    connection
        .execute_batch("DELETE FROM state_map; UPDATE episodes SET model = 'forged'")
        .unwrap();
    drop(connection);
    let (code, report) = places.cli_json(&["verify"]);
    assert_ne!(code, 0, "{report}");
    let text = report.to_string();
    assert!(
        text.contains("state_map") && text.contains("episodes"),
        "{text}"
    );
    let rebuilt = places.in_workspace(&["rebuild"]).output().unwrap();
    assert_eq!(rebuilt.status.code(), Some(0), "{rebuilt:?}");
    let (code, report) = places.cli_json(&["verify"]);
    assert_eq!(code, 0);
    assert_eq!(places.cli_json(&["state"]), (0, state));
    // What is printed can be held against what a verification prints, here or on a copy.
    let printed = String::from_utf8(rebuilt.stdout).unwrap();
    let again = places.in_workspace(&["rebuild"]).output().unwrap();
    let again = String::from_utf8(again.stdout).unwrap();
    assert_eq!(again, printed.replace("CHANGED", "unchanged"));
    let changed: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_suffix("CHANGED")?.split(' ').next())
        .collect();
    assert_eq!(changed, ["state_map", "episodes"]);
    for line in printed.lines() {
        let [table, rows, "rows", hash, _] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        assert_eq!(hash.len(), 64, "{line}");
        let detail = format!("{rows} rows, hash {hash}");
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["check"] == table);
        assert_eq!(check.unwrap()["detail"], detail, "{table}");
    }
    assert_eq!(printed.lines().count(), tslp_projections::TABLES.len());
}

#[test]
fn copy_before_damage() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    damage(&places.data, ONCE);
    let before = evidence(&places.data);
    assert_eq!(places.cli_json(&["verify"]).0, 3);
    let new = places.path("copied");
    let copied = copying(&places, &new).output().unwrap();
    assert_eq!(copied.status.code(), Some(3), "{copied:?}");
    assert!(evidence(&places.data) == before, "evidence was written to");
    let mut places = places;
    places.data = new;
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    assert_eq!(tslp.page("/doctor")["ok"], true);
    tslp.say("on it goes");
}

/// What a damaged ledger says is shown as unverified.
#[test]
fn unvouched_pages() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let pages = ["state", "recent"].map(|page| places.cli_json(&[page]));
    damage(&places.data, ONCE);
    // As it stays when somebody has read all of it.
    ledger_file::distrust(&places.data);
    let before = evidence(&places.data);
    for (name, (code, sound)) in ["state", "recent"].into_iter().zip(pages) {
        assert_eq!((code, &sound["unverified"]), (0, &serde_json::Value::Null));
        let output = places.in_workspace(&[name]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}: {said}");
        for words in ["can't be trusted", "fit the hash chain"] {
            assert!(said.contains(words), "{name}: {said}");
        }
        assert!(!output.stdout.is_empty(), "it is shown, though");
        let (code, mut page) = places.cli_json(&[name]);
        let flaw = page.as_object_mut().unwrap().remove("unverified").unwrap();
        assert!(
            flaw.as_str().unwrap().contains("fit the hash chain"),
            "{flaw}"
        );
        assert_eq!((code, page), (3, sound), "{name}");
    }
    // What happened before the damage is told.
    let output = places.in_workspace(&["why", RING_PUT]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let story = String::from_utf8(output.stdout).unwrap();
    assert!(story.contains("from the user"), "{story}");
    // The proxy in safe mode says it, too.
    let tslp = Tslp::start(&places, &upstream);
    for page in ["/state", "/recent"] {
        assert!(tslp.page(page)["unverified"].is_string(), "{page}");
    }
    assert!(tslp.page("/doctor")["unverified"].is_null());
    tslp.stop_with(3);
    assert!(evidence(&places.data) == before, "evidence was written to");
}

#[test]
fn recent_before_damage() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("What does `ring_put` do?");
    tslp.stop_with(0);
    let (_, sound) = places.cli_json(&["recent"]);
    let damaged = ledger_file::open(&places.data).execute_batch(&format!(
        "DROP TRIGGER ledger_refuses_update;
         UPDATE ledger SET payload = x'00'
         WHERE seq = (SELECT max(seq) FROM ledger WHERE abs(kind) = {})",
        tslp_migrations::number_of(tslp_core::event::EventKind::PromptComposed)
    ));
    damaged.unwrap();
    ledger_file::distrust(&places.data);
    let (code, of_command) = places.cli_json(&["recent"]);
    let tslp = Tslp::start(&places, &upstream);
    let of_proxy = tslp.page("/recent");
    tslp.stop_with(3);
    assert_eq!(code, 3);
    for page in [of_command, of_proxy] {
        assert!(page["unverified"].is_string(), "{page}");
        let episodes = |page: &serde_json::Value| page["episodes"].as_array().unwrap().clone();
        let (sound, shown) = (episodes(&sound), episodes(&page));
        assert_eq!(shown.len(), sound.len());
        assert!(shown.len() > 1, "the damage is in the last");
        assert_eq!(shown[1..], sound[1..]);
        assert_ne!(sound[0]["hydrated"], json!([]));
        assert_eq!(shown[0]["hydrated"], json!([]));
        assert_eq!(shown[0]["episode_id"], sound[0]["episode_id"]);
    }
}

/// A row is checked against the event that it names.
#[test]
fn row_and_its_event() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let forgeries: [fn(&mut TrueEntity); 2] = [
        |truth| truth.version = truth.version.next(),
        |truth| truth.seq = Seq(truth.seq.0 - 1),
    ];
    for forge in forgeries {
        ledger_file::forge_truth(&places.data, forge);
        for page in [&["state"][..], &["why", RING_PUT]] {
            let (code, page) = places.cli_json(page);
            let flaw = page["unverified"].to_string();
            assert!(flaw.contains("doesn't say what the table"), "{page}");
            assert_eq!(code, 3, "{page}");
        }
        let rebuilt = places.in_workspace(&["rebuild"]).output().unwrap();
        assert!(rebuilt.status.success());
        assert_eq!(places.cli_json(&["state"]).0, 0);
    }
}

/// Nothing is folded or copied over a ledger in use.
#[test]
fn ledger_in_use() {
    let upstream = Upstream::start();
    let places = with_history(&upstream);
    let tslp = Tslp::start(&places, &upstream);
    let (code, said) = failure(places.in_workspace(&["rebuild"]));
    assert_eq!(code, 4, "{said}");
    tslp.stop();
    let (inside, workspace) = (places.data.join("data"), places.workspace.join("data"));
    for to in [&places.data, &inside, &workspace] {
        let (code, said) = failure(copying(&places, to));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("name another place"), "{said}");
    }
    assert!(!inside.exists() && !workspace.exists());
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
}

#[test]
fn without_ledger() {
    let places = Places::new();
    for command in ["verify", "rebuild"] {
        let (code, said) = failure(places.in_workspace(&[command]));
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("there is no ledger"), "{said}");
    }
    assert!(!places.data.exists());
}

/// An empty file was reported as "no such table: ledger; check the disk".
#[test]
fn empty_and_emptied() {
    let (places, upstream) = (Places::new(), Upstream::start());
    std::fs::create_dir_all(&places.data).unwrap();
    let database = places.data.join("ledger.db");
    let nowhere = places.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let empty_it = || std::fs::write(&database, "").unwrap();
    let said = |command: &[&str]| {
        let output = places.in_workspace(command).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        String::from_utf8(text).unwrap()
    };
    empty_it();
    for command in [
        &["verify"][..],
        &["log"],
        &["copy", nowhere],
        &["why", "a.c"],
    ] {
        let said = said(command);
        assert!(said.contains("there is no ledger in"), "{command:?} {said}");
    }
    assert!(said(&["state"]).contains("Nothing is true yet"));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    tslp.stop();
    empty_it();
    for command in [
        &["verify"][..],
        &["log"],
        &["copy", nowhere],
        &["why", "a.c"],
        &["state"],
    ] {
        let said = said(command);
        assert!(said.contains("emptied or replaced"), "{command:?} {said}");
        assert!(
            said.contains("`tslp copy`") && !said.contains("no such table: ledger"),
            "{said}"
        );
    }
}
