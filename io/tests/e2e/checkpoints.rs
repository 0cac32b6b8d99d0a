//! Starts from a checkpoint: what is believed, what isn't, and what is found behind the start.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tslp_core::ids::Seq;
use tslp_io::checkpoint;
use tslp_io::ledger::disk::FileSystem;
use tslp_io::ledger::{DataFiles, OpenOptions, ReaderFactory};
use tslp_projections::part::{Part, Unfit};
use tslp_replay::log::Head;
use tslp_replay::state::Restoring;

use crate::durability::past_the_triggers;
use crate::harness::{CHAT, JSON, Places, RING, RING_BETTER, Tslp, fenced, prompt};
use crate::ledger_file::{self, damage};
use crate::upstream::Upstream;

const ONCE: &str = "a text that stands in the ledger once";
const USED: &str = "started from the checkpoint";
const NOT_USED: &str = "the checkpoint isn't used";

fn file(places: &Places) -> PathBuf {
    places.data.join("ledger.checkpoint")
}

/// A ledger whose proxy ended in order; what `/state` and `/recent` said before.
fn with_history(places: &Places, upstream: &Upstream) -> (Value, Value) {
    let tslp = Tslp::start(places, upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    tslp.say(ONCE);
    tslp.at_rest();
    let pages = (tslp.state(), tslp.page("/recent"));
    tslp.stop();
    pages
}

fn check_start(places: &Places, upstream: &Upstream, pages: &(Value, Value), logged: &str) {
    let tslp = Tslp::start(places, upstream);
    assert!(tslp.log().contains(logged), "{logged}: {}", tslp.log());
    assert_eq!((&tslp.state(), &tslp.page("/recent")), (&pages.0, &pages.1));
    tslp.at_rest();
    assert_eq!(tslp.page("/doctor")["ok"], true);
    tslp.kill();
}

#[test]
fn an_orderly_end_leaves_one_and_a_start_goes_on_from_it() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    check_start(&places, &upstream, &pages, USED);
    // It stays what it was until there is another one: a crash leaves a tail to be folded.
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    tslp.at_rest();
    let pages = (tslp.state(), tslp.page("/recent"));
    tslp.kill();
    check_start(&places, &upstream, &pages, USED);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

#[test]
fn one_that_is_damaged_cut_or_gone_costs_a_fold_and_nothing_else() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    let sound = std::fs::read(file(&places)).unwrap();
    for byte in [
        0,
        9,
        20,
        50,
        60,
        70,
        3000,
        4080,
        4100,
        4200,
        sound.len() - 1,
    ] {
        let mut flipped = sound.clone();
        flipped[byte] ^= 4;
        std::fs::write(file(&places), flipped).unwrap();
        check_start(&places, &upstream, &pages, NOT_USED);
    }
    std::fs::write(file(&places), &sound[..sound.len() - 1]).unwrap();
    check_start(&places, &upstream, &pages, NOT_USED);
    std::fs::remove_file(file(&places)).unwrap();
    check_start(&places, &upstream, &pages, NOT_USED);
    let pipe = Command::new("mkfifo").arg(file(&places)).status();
    assert!(pipe.unwrap().success());
    check_start(&places, &upstream, &pages, NOT_USED);
    std::fs::remove_file(file(&places)).unwrap();
    std::fs::write(file(&places), sound).unwrap();
    check_start(&places, &upstream, &pages, USED);
}

#[test]
fn one_of_another_ledger_is_not_believed() {
    let (places, other, upstream) = (Places::new(), Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    with_history(&other, &upstream);
    std::fs::copy(file(&other), file(&places)).unwrap();
    check_start(&places, &upstream, &pages, NOT_USED);
}

/// Writes a checkpoint whose hashes fit, without some of the state.
fn forge(places: &Places, left_out: impl Fn(&Part) -> bool) {
    let loaded = checkpoint::read(&FileSystem, &file(places)).unwrap();
    let mut restoring = Restoring::default();
    let visited = loaded.state.parts(&mut |part| {
        if !left_out(&part) {
            restoring
                .take(part)
                .unwrap_or_else(|Unfit(what)| panic!("{what}"));
        }
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(visited, Ok(std::ops::ControlFlow::Continue(())));
    let Head { seq, .. } = loaded.mark.head;
    let state = restoring
        .finish(seq)
        .unwrap_or_else(|Unfit(what)| panic!("{what}"));
    checkpoint::write(&FileSystem, &file(places), loaded.mark.head, &state).unwrap();
}

#[test]
fn one_that_contradicts_the_tables_is_not_believed() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    forge(&places, |part| matches!(part, Part::Episodes(_)));
    check_start(&places, &upstream, &pages, NOT_USED);
    let (code, report) = places.cli_json(&["verify"]);
    assert_ne!(code, 0);
    let text = report.to_string();
    assert!(
        text.contains("wrong about episodes") && text.contains("tslp rebuild"),
        "{text}"
    );
    let rebuilt = places.in_workspace(&["rebuild"]).output().unwrap();
    assert_eq!(rebuilt.status.code(), Some(0), "{rebuilt:?}");
    let (code, report) = places.cli_json(&["verify"]);
    assert_eq!(code, 0, "{report}");
    check_start(&places, &upstream, &pages, USED);
}

/// Starts on a ledger whose flaw no start from its checkpoint meets: it is found behind it, and nothing is written.
fn check_found_behind(places: &Places, upstream: &Upstream, flaw: &str) {
    let database = || std::fs::read(places.data.join("ledger.db")).unwrap();
    let (before, events) = (database(), ledger_file::events(&places.data));
    let tslp = Tslp::start(places, upstream);
    assert!(tslp.log().contains(USED), "{}", tslp.log());
    // The first prompt waits for the look at everything, however soon it comes.
    let body = prompt("hello").to_string();
    let refused = tslp.request("POST", CHAT, &[JSON], body.as_bytes());
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.json()["error"]["code"], "ledger_failed");
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains(flaw), "{message}");
    let doctor = tslp.page("/doctor");
    assert_eq!(doctor["checks"][0]["check"], "safe mode");
    let detail = doctor["checks"][0]["detail"].as_str().unwrap();
    assert!(detail.contains(flaw), "{detail}");
    assert!(tslp.page("/state")["unverified"].is_string());
    tslp.kill();
    assert!(database() == before, "evidence was written to");
    assert_eq!(ledger_file::events(&places.data), events);
    assert!(
        !file(places).exists(),
        "the next start must look at everything"
    );
}

#[test]
fn an_event_that_was_changed_before_it_is_found_behind_the_start() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    damage(&places.data, ONCE);
    check_found_behind(&places, &upstream, "doesn't fit the hash chain");
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.page("/doctor")["checks"][0]["check"], "safe mode");
}

#[test]
fn nothing_is_appended_on_the_command_line_before_every_event_was_verified() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    damage(&places.data, ONCE);
    let database = || std::fs::read(places.data.join("ledger.db")).unwrap();
    let before = database();
    places.write("src/ring.c", RING);
    for (command, code) in [(["accept", "src/ring.c"], 3), (["adopt", "."], 1)] {
        let sound_hashes = std::fs::read(file(&places)).unwrap();
        let refused = places.in_workspace(&command).output().unwrap();
        assert_eq!(refused.status.code(), Some(code), "{refused:?}");
        let words = String::from_utf8_lossy(&refused.stderr);
        assert!(words.contains("doesn't fit the hash chain"), "{words}");
        assert!(database() == before, "evidence was written to");
        assert!(
            !file(&places).exists(),
            "the next start must look at everything"
        );
        std::fs::write(file(&places), sound_hashes).unwrap();
    }
}

#[test]
fn an_archive_that_was_changed_is_found_behind_the_start_and_rebuilt_by_the_next() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    let forgery = "UPDATE vault SET \"end\" = \"end\" - 1 WHERE container IS NULL";
    past_the_triggers(&places, forgery);
    check_found_behind(
        &places,
        &upstream,
        "table vault doesn't hold what the ledger says",
    );
    check_start(&places, &upstream, &pages, "rebuilding");
}

#[test]
fn one_that_is_wrong_about_what_no_table_shows_is_found_behind_the_start() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    forge(&places, |part| matches!(part, Part::SessionPoints(_)));
    check_found_behind(&places, &upstream, "isn't what the ledger says");
    check_start(&places, &upstream, &pages, NOT_USED);
}

#[test]
fn acts_on_the_command_line_leave_one() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    places.write("src/ring.c", RING);
    let accepted = places
        .in_workspace(&["accept", "src/ring.c"])
        .output()
        .unwrap();
    assert_eq!(accepted.status.code(), Some(0), "{accepted:?}");
    check_is_of_head(&places.data);
    places.write("src/more.c", "int more(void) { return 1; }\n");
    let adopted = places.in_workspace(&["adopt", "."]).output().unwrap();
    assert_eq!(adopted.status.code(), Some(0), "{adopted:?}");
    check_is_of_head(&places.data);
}

fn check_is_of_head(data: &Path) {
    let files = DataFiles::of(data);
    let reader = ReaderFactory::new(&files, &OpenOptions::default())
        .open()
        .unwrap();
    let head = reader.head().unwrap();
    let loaded = checkpoint::load(&FileSystem, &files.checkpoint, &reader).unwrap();
    assert!(head.seq > Seq(0));
    assert_eq!(loaded.mark.head, head);
}
