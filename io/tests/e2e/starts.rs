//! Starts from the projections' tables: what is believed, what isn't, and what is found behind the start.

use std::ops::ControlFlow;

use serde_json::Value;
use tslp_projections::TABLES;
use tslp_projections::table::RowsHash;
use tslp_store::ledger::{DataFiles, OpenOptions, ReaderFactory};

use crate::durability::past_the_triggers;
use crate::harness::{CHAT, JSON, Places, RING, RING_BETTER, Tslp, eventually, fenced, prompt};
use crate::ledger_file::{self, damage, distrust};
use crate::upstream::Upstream;

const ONCE: &str = "a text that stands in the ledger once";
const FROM_TABLES: &str = "the state was taken from the projections' tables";
const REBUILT: &str = "the projections are rebuilt";

/// A ledger whose proxy ended in order; what `/state` and `/recent` said before.
fn with_history(places: &Places, upstream: &Upstream) -> (Value, Value) {
    let tslp = Tslp::start(places, upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    tslp.say(ONCE);
    // The last events are read by each start.
    (0..4).for_each(|_| drop(tslp.say("hello")));
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

/// A start goes on from the tables, however the last process ended.
#[test]
fn from_the_tables() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    check_start(&places, &upstream, &pages, FROM_TABLES);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("hello");
    tslp.at_rest();
    let pages = (tslp.state(), tslp.page("/recent"));
    tslp.kill();
    check_start(&places, &upstream, &pages, FROM_TABLES);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

/// A damaged row of any table is noticed, and the tables are folded anew.
///
/// Three forgeries of each table, with two starts each: every table is read by code of its own, so a
/// selection of tables would miss the one that is believed without its hash.
#[test]
fn damaged_row() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    let mut damaged = 0;
    for table in TABLES.iter().filter(|table| !table.is_archive()) {
        let (name, last) = (table.name, table.columns[table.columns.len() - 1].name);
        let some = format!("rowid = (SELECT min(rowid) FROM {name})");
        let key = table.columns[0].name;
        let first = match table.key {
            1 if key == "episode" || key == "session" || key == "version" || key == "seq" => some,
            _ => format!("{key} = (SELECT min({key}) FROM {name})"),
        };
        for forgery in [
            format!("DELETE FROM {name} WHERE {first}"),
            format!(
                "UPDATE {name} SET \"{last}\" = \"{last}\" + 1 WHERE {first} AND typeof(\"{last}\") = 'integer'"
            ),
            format!(
                "UPDATE {name} SET \"{last}\" = \"{last}\" || 'x' WHERE {first} AND typeof(\"{last}\") = 'text'"
            ),
        ] {
            let changed = ledger_file::open(&places.data).execute(&forgery, []);
            if changed.unwrap() == 0 {
                continue;
            }
            damaged += 1;
            let (code, report) = places.cli_json(&["verify"]);
            assert_ne!(code, 0, "{forgery}: {report}");
            check_start(&places, &upstream, &pages, REBUILT);
            check_start(&places, &upstream, &pages, FROM_TABLES);
        }
    }
    assert!(damaged > 12, "{damaged}");
}

/// What another version folded is folded anew.
#[test]
fn folded_by_another() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    let older = "UPDATE meta SET value = '0.0.1' WHERE key = 'folded_by'";
    ledger_file::open(&places.data)
        .execute_batch(older)
        .unwrap();
    check_start(&places, &upstream, &pages, REBUILT);
}

/// Deletes rows, and has the hash of all rows say that they never were.
fn forge(places: &Places, table: &str, rows: &str) {
    let shell = ledger_file::open(&places.data);
    let deleted = shell.execute(&format!("DELETE FROM {table} WHERE {rows}"), []);
    assert!(deleted.unwrap() > 0, "there are no such rows");
    let readers = ReaderFactory::new(&DataFiles::of(&places.data), &OpenOptions::default());
    let reader = readers.open().unwrap();
    let mut hash = RowsHash::default();
    for (index, table) in TABLES.iter().enumerate().filter(|it| !it.1.is_archive()) {
        let read = reader.read_table(index, &mut |row| {
            hash.add(table, row);
            ControlFlow::Continue(())
        });
        read.unwrap();
    }
    let set = shell.execute(
        "UPDATE meta SET value = ?1 WHERE key = 'rows_hash'",
        [hash.to_bytes()],
    );
    assert_eq!(set, Ok(1));
}

/// Starts on a ledger whose flaw no start from its tables meets: it is found behind it, and nothing is written.
fn check_found_behind(places: &Places, upstream: &Upstream, flaw: &str) {
    let database = || std::fs::read(places.data.join("ledger.db")).unwrap();
    let (before, events) = (database(), ledger_file::events(&places.data));
    let tslp = Tslp::start(places, upstream);
    assert!(tslp.log().contains(FROM_TABLES), "{}", tslp.log());
    eventually(|| (tslp.page("/doctor")["checks"][0]["check"] == "safe mode").then_some(()));
    let body = prompt("hello").to_string();
    let refused = tslp.request("POST", CHAT, &[JSON], body.as_bytes());
    assert_eq!(refused.status(), 400);
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
    // What came in before the flaw was found follows what was there.
    assert!(ledger_file::events(&places.data) >= events);
}

/// law 15.8 | Nothing is moved into a ledger's file before every page of it was verified, and what is found damaged is never written over
/// law 15.8 | No guessing and no silent repair: nothing is written over a record that nobody verified
#[test]
fn changed_before_start() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    damage(&places.data, ONCE);
    check_found_behind(&places, &upstream, "doesn't fit the hash chain");
    let tslp = Tslp::start(&places, &upstream);
    eventually(|| (tslp.page("/doctor")["checks"][0]["check"] == "safe mode").then_some(()));
}

/// law 15.8 | Nothing is moved into a ledger's file before every page of it was verified, and what is found damaged is never written over
/// law 15.8 | No guessing and no silent repair: nothing is written over a record that nobody verified
#[test]
fn act_beside_the_check() {
    let (places, upstream) = (Places::new(), Upstream::start());
    with_history(&places, &upstream);
    damage(&places.data, ONCE);
    let database = || std::fs::read(places.data.join("ledger.db")).unwrap();
    let before = database();
    places.write("src/ring.c", RING);
    let accepted = places.in_workspace(&["accept", "src/ring.c"]).output();
    assert!(accepted.unwrap().status.success());
    assert!(database() == before, "pages were moved into it unchecked");
    check_found_behind(&places, &upstream, "doesn't fit the hash chain");
}

/// A changed archive is found after the start and rebuilt by the next one.
#[test]
fn changed_archive() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    let forgery = "UPDATE vault SET \"end\" = \"end\" - 1 WHERE container IS NULL";
    past_the_triggers(&places, forgery);
    check_found_behind(&places, &upstream, "table vault holds ");
    check_start(&places, &upstream, &pages, REBUILT);
}

/// A wrong table with a fitting hash is found after the start.
#[test]
fn wrong_with_hash() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    forge(&places, "asked", "place = 0");
    let (code, report) = places.cli_json(&["verify"]);
    assert_ne!(code, 0);
    let text = report.to_string();
    assert!(text.contains("but the ledger says"), "{text}");
    check_found_behind(&places, &upstream, "table asked holds");
    check_start(&places, &upstream, &pages, REBUILT);
    check_start(&places, &upstream, &pages, FROM_TABLES);
}

/// Tables without a position cost a fold.
#[test]
fn distrust_costs_a_fold() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let pages = with_history(&places, &upstream);
    distrust(&places.data);
    check_start(&places, &upstream, &pages, REBUILT);
    check_start(&places, &upstream, &pages, FROM_TABLES);
}
