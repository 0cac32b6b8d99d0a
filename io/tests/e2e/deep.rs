//! `tslp verify --deep`: what was decided over real HTTP comes out again, and what was forged doesn't.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::artifact::{Origin, Transition};
use tslp_core::event::{DiskFinding, Event, Transitioned};
use tslp_core::ids::Seq;
use tslp_core::reason::Reason;
use tslp_core::slice;
use tslp_migrations::{decode, encode};
use tslp_replay::chain::ChainHash;
use tslp_replay::log::Stored;
use tslp_store::ledger::{self, DataFiles, OpenOptions, ReaderFactory};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, fenced, user};
use crate::ledger_file::{damage, evidence};
use crate::upstream::Upstream;

const LIST: &str = "int list_length(const struct node *head) {\n    int length = 0;\n    for (; head; head = head->next)\n        length++;\n    return length;\n}\n";

const TREE: &str =
    "int tree_depth(const struct tree *t) {\n    return t ? 1 + tree_depth(t->left) : 0;\n}\n";

/// Nothing of the function but its head and a placeholder.
const RING_ELIDED: &str =
    "int ring_put(struct ring *r, int value) {\n    // ... existing code ...\n    return 0;\n}\n";

fn edit(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```c\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n")
}

fn deep(places: &Places, arguments: &[&str]) -> (i32, Value) {
    places.cli_json(&[&["verify", "--deep"], arguments].concat())
}

/// Nothing came out otherwise; how many decisions were made again.
fn check_same(places: &Places, arguments: &[&str]) -> u64 {
    let before = evidence(&places.data);
    let (code, page) = deep(places, arguments);
    assert_eq!(code, 0, "{page:#}");
    assert_eq!(page["ok"], true, "{page:#}");
    assert_eq!(page["deep"]["differences"], json!([]), "{page:#}");
    assert_eq!(page["deep"]["unexplained"], 0, "{page:#}");
    assert!(evidence(&places.data) == before, "evidence was written to");
    page["deep"]["decisions"].as_u64().unwrap()
}

/// A paste, a promoted and a refused reply.
fn with_decisions(upstream: &Upstream, arguments: &[&str]) -> Places {
    let places = Places::new();
    let tslp = Tslp::with(&places, &upstream.url, arguments);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_ELIDED));
    tslp.say("Make `ring_put` faster.");
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("Make `ring_put` safe.");
    tslp.stop();
    places
}

/// Everything that was decided over HTTP is derived again.
#[test]
fn derived_again() {
    let upstream = Upstream::start();
    let places = Places::new();
    places.write("src/tree.c", TREE);
    places.write("src/list.c", LIST);
    assert_eq!(places.cli_json(&["adopt", "src/tree.c"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&format!(
        "Look at this.\n{}\nand this key = \"AKIAIOSFODNN7EXAMPLE\"",
        fenced("src/ring.c", RING)
    ));
    upstream.will_say(edit(
        "src/ring.c",
        "    r->slots[r->head] = value;\n",
        "    if (r->count == r->size) return -1;\n    r->slots[r->head] = value;\n",
    ));
    tslp.say("Make `ring_put` safe.");
    upstream.will_say(fenced("src/ring.c", RING_ELIDED));
    tslp.say("And `ring_put` faster, with `tree_depth` in mind.");
    upstream.will_say("Nothing to do.");
    tslp.say("@tslp accept src/list.c\nWhat is wrong with list_length()?");
    tslp.say("@tslp reject src/ring.c::ring_put\n@tslp confirm src/ring.c::ring_put");
    places.write("src/list.c", &LIST.replace("length++", "length += 1"));
    tslp.say("And now with list_length()?");
    let turns = json!({"model": "m", "messages": [
        {"role": "system", "content": "Be brief."},
        user("Hello, `ring_put`!"),
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "text", "text": fenced("src/new.c", TREE)}]},
    ]});
    tslp.chat(&turns);
    tslp.at_rest();
    let while_it_runs = check_same(&places, &[]);
    tslp.stop();
    std::fs::remove_file(places.workspace.join("src/tree.c")).unwrap();
    let accepted = places.in_workspace(&["accept", "src/list.c"]).output();
    assert_eq!(accepted.unwrap().status.code(), Some(0));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("What of `tree_depth`?");
    tslp.stop();
    let all = check_same(&places, &[]);
    assert!(
        all > while_it_runs && while_it_runs > 20,
        "{all} {while_it_runs}"
    );
}

#[test]
fn audit_derived_again() {
    let upstream = Upstream::start();
    let places = Places::new();
    let strict = ["--profile", "strict"];
    let tslp = Tslp::with(&places, &upstream.url, &strict);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    upstream.will_say(json!({"entity": RING_PUT, "status": "completed"}).to_string());
    tslp.say("Make `ring_put` safe.");
    eventually(|| (tslp.state()[RING_PUT]["origin"] == "model").then_some(()));
    tslp.stop();
    assert!(check_same(&places, &strict) > 5);
}

/// Other settings are named as the cause, and are no damage.
#[test]
fn other_settings() {
    let upstream = Upstream::start();
    let places = with_decisions(&upstream, &["--profile", "strict"]);
    check_same(&places, &["--profile", "strict"]);
    let (code, page) = deep(&places, &[]);
    assert_eq!(code, 0, "{page:#}");
    let differences = page["deep"]["differences"].as_array().unwrap();
    assert!(!differences.is_empty(), "{page:#}");
    let cause = json!([
        {"cause": "setting", "name": "profile", "then": "strict", "now": "standard"}
    ]);
    for difference in differences {
        assert_eq!(difference["causes"], cause, "{difference:#}");
        assert_eq!(difference["explained"], true, "{difference:#}");
    }
    assert_eq!(page["deep"]["unexplained"], 0);
    let output = places.in_workspace(&["verify", "--deep"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("because    setting profile: strict then, standard now"),
        "{said}"
    );
}

/// The ledger written anew with other events: every hash of the chain, the anchor and the tables fit them.
pub(crate) fn forged(from: &Places, forge: impl FnOnce(&mut Vec<Event>)) -> Places {
    let files = DataFiles::of(&from.data);
    let reader = ReaderFactory::new(&files, &OpenOptions::default())
        .open()
        .unwrap();
    let mut stored: Vec<Stored> = Vec::new();
    reader
        .read(Seq(1), &mut |event| {
            stored.push(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    let mut events: Vec<Event> = stored
        .iter()
        .map(|stored| decode(stored.kind, &stored.payload).unwrap())
        .collect();
    forge(&mut events);
    let mut chain = ChainHash::GENESIS;
    for (stored, event) in stored.iter_mut().zip(&events) {
        let encoded = encode(event).unwrap();
        stored.kind = encoded.kind;
        stored.payload = encoded.payload;
        chain = chain.extended(stored, stored.kind, &stored.payload);
        stored.chain = chain;
    }
    let mut forged = Places::new();
    forged.workspace.clone_from(&from.workspace);
    forged.data = forged.path("forged");
    let mut opened = ledger::open_ledger(&forged.data, &forged.workspace).unwrap();
    opened.log.append(&stored).unwrap();
    drop(opened);
    let rebuilt = forged.in_workspace(&["rebuild"]).output().unwrap();
    assert_eq!(rebuilt.status.code(), Some(0), "{rebuilt:?}");
    assert_eq!(forged.cli_json(&["verify"]).0, 0, "nothing else notices it");
    forged
}

fn position(events: &[Event], wanted: impl Fn(&Event) -> bool) -> usize {
    events.iter().position(wanted).unwrap()
}

/// A forged promotion is found though every hash fits.
#[test]
fn forged_promotion() {
    let upstream = Upstream::start();
    let places = with_decisions(&upstream, &[]);
    check_same(&places, &[]);
    let mut seq = 0;
    let forged = forged(&places, |events| {
        let at = position(events, |event| matches!(event, Event::PromotionRefused(_)));
        seq = at as u64 + 1;
        let Event::PromotionRefused(refused) = events[at].clone() else {
            unreachable!()
        };
        let mut report = refused.report;
        report
            .verdicts
            .iter_mut()
            .for_each(|verdict| verdict.met = true);
        report.passed = true;
        report.conclusion = Some(Reason::StructuralParity);
        events[at] = Event::Transitioned(Transitioned {
            version: refused.version,
            entity: refused.entity,
            transition: Transition::Promote,
            origin: Origin::Model,
            cause: Reason::StructuralParity,
            report: Some(report),
        });
    });
    let (code, page) = deep(&forged, &[]);
    assert_eq!(code, 5, "{page:#}");
    assert_eq!(page["ok"], false);
    let first = &page["deep"]["differences"][0];
    assert_eq!(first["seq"], seq, "{page:#}");
    assert_eq!(first["recorded"]["event"], "transitioned");
    assert_eq!(first["today"]["event"], "promotion_refused");
    assert_eq!(first["entities"], json!([RING_PUT]));
    assert_eq!(first["explained"], false);
    assert_eq!(first["causes"], json!([]));
}

#[test]
fn other_grammar() {
    let upstream = Upstream::start();
    let places = with_decisions(&upstream, &[]);
    let mut seq = 0;
    let forged = forged(&places, |events| {
        let at = position(events, |event| matches!(event, Event::ArtifactResolved(_)));
        seq = at as u64 + 1;
        if let Event::ArtifactResolved(resolved) = &mut events[at] {
            resolved.grammar.as_mut().unwrap().version = "0.0.1".into();
        }
    });
    let (code, page) = deep(&forged, &[]);
    assert_eq!(code, 0, "{page:#}");
    let differences = page["deep"]["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1, "{page:#}");
    assert_eq!(differences[0]["seq"], seq);
    assert_eq!(differences[0]["fields"][0]["field"], "grammar.version");
    let cause = &differences[0]["causes"][0];
    assert_eq!(
        (&cause["cause"], &cause["language"], &cause["then"]),
        (&json!("grammar"), &json!("c"), &json!("0.0.1"))
    );
    assert_ne!(cause["now"], "0.0.1");
}

#[test]
fn other_rules() {
    let upstream = Upstream::start();
    let places = with_decisions(&upstream, &[]);
    let forged = forged(&places, |events| {
        for event in &mut *events {
            if let Event::RulesInForce(rules) = event {
                rules.rules = 0;
            }
        }
        let at = position(events, |event| matches!(event, Event::NoticeIssued(_)));
        if let Event::NoticeIssued(notice) = &mut events[at] {
            notice.reason = Reason::Unlinked;
        }
    });
    let (code, page) = deep(&forged, &[]);
    assert_eq!(code, 0, "{page:#}");
    assert_eq!(page["deep"]["unexplained"], 0, "{page:#}");
    let first = &page["deep"]["differences"][0];
    let rules = json!({"cause": "rules", "then": 0, "now": tslp_core::RULES_VERSION});
    assert_eq!(first["causes"], json!([rules]), "{page:#}");
    assert_eq!(first["recorded"]["reason"], "unlinked");
}

/// Before version 4 a first message that was said again acted in full, also where the file held what was newer and true.
#[test]
fn older_rules() {
    let upstream = Upstream::start();
    let places = Places::new();
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let words = format!("{}Make `ring_put` safe.", fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say(&words);
    places.write("src/ring.c", &format!("{RING}\n{LIST}"));
    tslp.say(&words);
    tslp.stop();
    check_same(&places, &[]);
    let under = |version: u32| {
        let forged = forged(&places, |events| {
            for event in events {
                match event {
                    Event::RulesInForce(rules) => rules.rules = version,
                    // The second look finds what is true, not what the message holds.
                    Event::DiskObserved(look) => {
                        if let DiskFinding::File(file) = &mut look.finding
                            && file.definitions == 2
                        {
                            let held = file.slices.iter_mut();
                            let mut held = held.filter(|held| held.symbol.as_str() == "ring_put");
                            let newer = slice::hash_of_slice(RING_BETTER.as_bytes());
                            held.next().unwrap().slice = Some(newer);
                        }
                    }
                    _ => {}
                }
            }
        });
        deep(&forged, &[])
    };
    let (code, page) = under(3);
    assert_eq!(code, 0, "{page:#}");
    assert_eq!(page["deep"]["unexplained"], 0, "{page:#}");
    let differences = page["deep"]["differences"].as_array().unwrap();
    let rules = json!([{"cause": "rules", "then": 3, "now": tslp_core::RULES_VERSION}]);
    for difference in differences {
        assert_eq!(difference["causes"], rules, "{difference:#}");
    }
    let notices = differences.iter().map(|difference| &difference["today"]);
    let mut notices = notices.filter(|today| today["event"] == "notice_issued");
    assert_eq!(notices.next().unwrap()["reason"], "said_before", "{page:#}");
    let (code, page) = under(tslp_core::RULES_VERSION);
    assert_eq!(code, 5, "{page:#}");
}

#[test]
fn damaged_ledger() {
    let upstream = Upstream::start();
    let places = with_decisions(&upstream, &[]);
    let all = check_same(&places, &[]);
    damage(&places.data, "Make `ring_put` safe.");
    let before = evidence(&places.data);
    let (code, page) = deep(&places, &[]);
    assert_eq!(code, 3, "{page:#}");
    let made = page["deep"]["decisions"].as_u64().unwrap();
    assert!(made > 0 && made < all, "{page:#}");
    assert_eq!(page["deep"]["unexplained"], 0, "{page:#}");
    assert!(evidence(&places.data) == before, "evidence was written to");
}
