//! A whole data directory as a released version left it, frozen: today's tslp opens a copy, verifies it, folds it to the same
//! truth, exports it to the same bytes and goes on from it. And the other way round: what a newer version left is refused.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use tslp_core::ids::{Seq, UnixMillis};
use tslp_io::evidence::export;
use tslp_io::evidence::import;
use tslp_io::evidence::scan::LedgerScan;
use tslp_io::ledger::reader::ReaderFactory;
use tslp_io::ledger::{DataFiles, OpenOptions};
use tslp_io::startup;
use tslp_migrations::LAYOUTS;
use tslp_replay::log::{Log, Stored};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, eventually, fenced, prompt};
use crate::ledger_file;
use crate::upstream::{Reply, Upstream};

/// The workspace of the frozen ledger.
const WORKSPACE: &str = "/home/user/project";

/// The frozen ledger's last event. It stands in docs/migrations.md, too, and never changes.
const HEAD: (u64, &str) = (
    122,
    "95e9ef53a165c3af0d46c4f5656282ad690479df67887f5dcf6d670ef52d2251",
);

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../migrations/fixtures/ledger-v1")
        .join(name)
}

fn frozen_text(name: &str) -> String {
    std::fs::read_to_string(frozen(name)).unwrap()
}

/// A copy of the frozen data directory.
fn copy() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for name in ["ledger.db", "ledger.anchor"] {
        std::fs::copy(frozen(name), data.join(name)).unwrap();
    }
    (dir, data)
}

fn readers(data: &Path) -> ReaderFactory {
    ReaderFactory::new(&DataFiles::of(data), &OpenOptions::default())
}

/// What a ledger says, verified from its first event to its last.
fn exported(data: &Path) -> String {
    let mut lines = Vec::new();
    let mut scan = LedgerScan::begin(data, &readers(data)).unwrap();
    export::write_export(&mut scan, &mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

/// What is true, without what a later version may add to the page.
fn truth(state: &Value) -> Vec<Value> {
    let entities = state["entities"].as_object().unwrap().iter();
    let fields = [
        "artifact",
        "source",
        "origin",
        "disk",
        "stale",
        "last_updated",
    ];
    entities
        .map(|(entity, about)| json!([entity, fields.map(|field| about[field].clone())]))
        .collect()
}

fn check_head(head: tslp_replay::log::Head) {
    assert_eq!(
        (head.seq.0, head.chain.to_string()),
        (HEAD.0, HEAD.1.to_owned())
    );
}

#[test]
fn a_released_ledger_opens_and_says_what_it_said() {
    let (_dir, data) = copy();
    let opened = startup::start(&OpenOptions::default(), &data, Path::new(WORKSPACE));
    let (opened, state) = opened.unwrap_or_else(|error| panic!("{error}"));
    check_head(opened.log.head().unwrap());
    assert_eq!(state.head(), Seq(HEAD.0));
    drop(opened);
    let mut places = Places::new();
    places.data = data;
    let (code, report) = places.cli_json(&["verify"]);
    assert_eq!(code, 0, "{report}");
    let (code, state) = places.cli_json(&["state"]);
    assert_eq!(code, 0, "{state}");
    let then: Value = serde_json::from_str(&frozen_text("state.json")).unwrap();
    assert!(truth(&then).len() >= 3, "{then}");
    assert_eq!(truth(&state), truth(&then));
}

#[test]
fn tables_of_other_versions_are_folded_anew_from_a_released_ledger() {
    let (_dir, data) = copy();
    let shell = ledger_file::open(&data);
    let aged = "DROP TABLE state_map; UPDATE meta SET value = 0 WHERE key LIKE 'table:%'";
    shell.execute_batch(aged).unwrap();
    drop(shell);
    let opened = startup::start(&OpenOptions::default(), &data, Path::new(WORKSPACE));
    check_head(opened.unwrap().0.log.head().unwrap());
    let mut places = Places::new();
    places.data = data;
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

/// Kinds that came after the ledger was frozen.
const SINCE_V1: [&str; 10] = [
    "prompt_amended",
    "prompt_measured",
    "prompt_sent",
    "reply_part",
    "side_request_received",
    "action_requested",
    "action_judged",
    "tool_ran",
    "policy_approved",
    "capability_changed",
];

#[test]
fn a_released_ledger_holds_every_kind_of_event() {
    let (_dir, data) = copy();
    let kinds = ledger_file::kinds(&data);
    for (name, _) in LAYOUTS.iter().filter(|(name, _)| !SINCE_V1.contains(name)) {
        assert!(kinds.contains_key(&format!("{name}.v1")), "{name}");
    }
}

#[test]
fn the_export_of_a_released_ledger_stays_the_same_and_comes_back() {
    let (dir, data) = copy();
    let lines = frozen_text("export.jsonl");
    assert!(exported(&data) == lines, "another export");
    let new = dir.path().join("imported");
    let imported = import::import_ledger(&mut BufReader::new(lines.as_bytes()), &new).unwrap();
    check_head(imported.head);
    assert_eq!(imported.workspace, Path::new(WORKSPACE));
    assert!(exported(&new) == lines, "another export of the import");
}

#[test]
fn the_documents_name_the_released_ledger() {
    let page = include_str!("../../../docs/migrations.md");
    assert!(page.contains(HEAD.1), "{}", HEAD.1);
}

/// A ledger of this workspace whose last event is of a kind that a later version may have.
fn with_a_newer_event(kind: &str) -> Places {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.stop();
    let opened = startup::start(&OpenOptions::default(), &places.data, &places.workspace);
    let mut log = opened.unwrap().0.log;
    let head = log.head().unwrap();
    let (seq, at, payload) = (head.seq.next(), UnixMillis(1), b"from the future".to_vec());
    let newer = Stored {
        seq,
        at,
        kind: kind.into(),
        chain: head.chain.extended(seq, at, kind, &payload),
        payload,
    };
    log.append(head.seq, &[newer]).unwrap();
    places
}

fn with_a_newer_schema() -> Places {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.stop();
    let shell = ledger_file::open(&places.data);
    let step = "CREATE TABLE later (a INTEGER) STRICT; PRAGMA user_version = 2";
    shell.execute_batch(step).unwrap();
    places
}

/// All bytes of evidence. Any reader makes an empty WAL where there is none.
fn bytes(places: &Places) -> BTreeMap<String, Vec<u8>> {
    let mut files = ledger_file::files(&places.data);
    files.retain(|name, bytes| name != "lock" && !name.ends_with("-shm") && !bytes.is_empty());
    files
}

/// Every command says that the ledger is a newer version's, ends with 1, and touches nothing.
fn check_refused(places: &Places, what: &str) {
    places.write("src/ring.c", RING);
    let before = bytes(places);
    let new = places.path("new");
    let new = new.to_str().unwrap();
    for arguments in [
        &["serve", "--listen", "127.0.0.1:0", "--upstream", "demo"][..],
        &["state"],
        &["recent"],
        &["log"],
        &["why", RING_PUT],
        &["verify"],
        &["verify", "--deep"],
        &["rebuild"],
        &["export", "--to", new],
        &["backup", "--to", new],
        &["salvage", "--to", new],
        &["accept", "src/ring.c"],
        &["doctor"],
    ] {
        let output = places.in_workspace(arguments).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        let code = output.status.code();
        assert_eq!(code, Some(1), "{what}, {arguments:?}: {said}");
        for words in ["written by a newer tslp", "or a newer one"] {
            assert!(said.contains(words), "{what}, {arguments:?}: {said}");
        }
        assert!(!said.contains("damaged"), "{what}, {arguments:?}: {said}");
        assert!(!Path::new(new).exists(), "{what}, {arguments:?}");
        assert!(bytes(places) == before, "{what}, {arguments:?}: touched");
    }
}

#[test]
fn a_ledger_with_events_of_a_newer_version_is_refused_by_every_command() {
    for kind in ["prompt_received.v2", "dreamt.v1"] {
        check_refused(&with_a_newer_event(kind), kind);
    }
}

#[test]
fn a_ledger_with_a_newer_schema_is_refused_by_every_command() {
    check_refused(&with_a_newer_schema(), "schema");
}

/// `TSLP_FREEZE=/home/user/project cargo test -p tslp-io --test e2e released -- --ignored` made the frozen ledger, and wrote it
/// where there was none. A new release gets a folder of its own.
#[test]
#[ignore = "makes the frozen ledger of a new release"]
fn freeze() {
    let workspace = std::env::var_os("TSLP_FREEZE").expect("TSLP_FREEZE names the workspace");
    let mut places = Places::new();
    places.workspace = workspace.into();
    std::fs::create_dir_all(places.workspace.join("src")).unwrap();
    converse(&places);
    let wal = std::fs::metadata(places.data.join("ledger.db-wal"));
    assert_eq!(
        wal.map_or(0, |wal| wal.len()),
        0,
        "all of it is in one file"
    );
    let folder = frozen("");
    std::fs::create_dir(&folder).expect("what is frozen is never written over");
    for name in ["ledger.db", "ledger.anchor"] {
        std::fs::copy(places.data.join(name), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("export.jsonl"), exported(&places.data)).unwrap();
    let (code, state) = places.cli_json(&["state"]);
    assert_eq!(code, 0);
    let page = serde_json::to_string_pretty(&state).unwrap();
    std::fs::write(folder.join("state.json"), page + "\n").unwrap();
}

const LIST: &str = "struct list *list_new(void) {\n    return calloc(1, sizeof(struct list));\n}\n\nint list_length(const struct list *l) {\n    int n = 0;\n    for (; l; l = l->next) n++;\n    return n;\n}\n";

const RING_ELIDED: &str =
    "int ring_put(struct ring *r, int value) {\n    // ... rest unchanged ...\n}\n";

fn list_without_new() -> String {
    LIST[LIST.find("int list_length").unwrap()..].to_owned()
}

/// A few conversations in which everything happens that can: pastes, edits, refusals, grants, audits, directives, looks at
/// the disk, several sessions and settings, and replies that don't come to their end.
fn converse(places: &Places) {
    let upstream = Upstream::start();
    places.write("src/ring.c", RING);
    places.write("src/list.c", LIST);
    assert_eq!(places.cli_json(&["adopt", "src/list.c"]).0, 0);
    let tslp = Tslp::with(places, &upstream.url, &["--profile", "strict"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_ELIDED));
    tslp.say("Make `ring_put` faster, größer und schöner.");
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    upstream.will_say(json!({"entity": RING_PUT, "status": "completed"}).to_string());
    tslp.say("Make `ring_put` safe.");
    eventually(|| (tslp.state()[RING_PUT]["origin"] == "model").then_some(()));
    tslp.say("What does `ring_put` return?");
    tslp.stop();

    let tslp = Tslp::start(places, &upstream);
    let mut talk = Talk::new(&tslp).with_system("Be brief.");
    talk.ask("Hello! What of list_length()?");
    upstream.will_say(fenced(
        "src/list.c",
        &list_without_new().replace("list_length", "list_count"),
    ));
    talk.ask("Improve `list_length`.");
    talk.ask("@tslp reject src/list.c::list_count\n@tslp accept src/ring.c\nAnd now?");
    places.write("src/list.c", &LIST.replace("n++", "n += 1"));
    upstream.will_say("It counts what it is given, a link at a time.\n".repeat(120));
    talk.ask("What of list_length() now?");
    places.write("src/list.c", &list_without_new());
    talk.ask("@tslp accept src/list.c\nDone, `list_length` is alone.");
    tslp.say(&fenced("src/list.c", &list_without_new()));
    tslp.say("A paste without a path:\n```c\nint lost(void) { return 1; }\n```\n");
    upstream.will(Reply::Plain(429, "text/plain", b"slow down".to_vec()));
    tslp.chat(&prompt("Too much?"));
    tslp.say("And that was `ring_put`.");
    tslp.stop();
}
