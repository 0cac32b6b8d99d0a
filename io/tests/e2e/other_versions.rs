//! What another version of tslp left is refused by every command, untouched.

use std::collections::BTreeMap;
use std::path::Path;

use tslp_core::event::Envelope;
use tslp_core::ids::UnixMillis;
use tslp_migrations::schema::FORMAT_VERSION;
use tslp_replay::log::Stored;
use tslp_store::ledger::OpenOptions;
use tslp_store::startup;

use crate::harness::{Places, RING, RING_PUT, Tslp, fenced};
use crate::ledger_file;
use crate::upstream::Upstream;

/// A ledger of this workspace whose last event is of a kind that a later version may have.
fn with_a_newer_event(kind: u32) -> Places {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.stop();
    let opened = startup::start(&OpenOptions::default(), &places.data, &places.workspace);
    let mut log = opened.unwrap().0.log;
    let head = log.head().unwrap();
    let envelope = Envelope::outside(head.seq.next(), UnixMillis(1));
    let newer = Stored::after(head.chain, envelope, kind, b"from the future".to_vec());
    log.append(&[newer]).unwrap();
    places
}

fn with_another_format(version: i64) -> Places {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.stop();
    let shell = ledger_file::open(&places.data);
    shell.pragma_update(None, "user_version", version).unwrap();
    places
}

/// All bytes of evidence. Any reader makes an empty WAL where there is none.
fn bytes(places: &Places) -> BTreeMap<String, Vec<u8>> {
    let mut files = ledger_file::files(&places.data);
    files.retain(|name, bytes| name != "lock" && !name.ends_with("-shm") && !bytes.is_empty());
    files
}

/// Every command says that the ledger is another version's, ends with 1, and touches nothing.
fn check_refused(places: &Places, what: &str, refusal: [&str; 2]) {
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
        &["copy", new],
        &["accept", "src/ring.c"],
        &["doctor"],
    ] {
        let output = places.in_workspace(arguments).output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        let code = output.status.code();
        assert_eq!(code, Some(1), "{what}, {arguments:?}: {said}");
        for words in refusal {
            assert!(said.contains(words), "{what}, {arguments:?}: {said}");
        }
        assert!(!said.contains("damaged"), "{what}, {arguments:?}: {said}");
        assert!(!Path::new(new).exists(), "{what}, {arguments:?}");
        assert!(bytes(places) == before, "{what}, {arguments:?}: touched");
    }
}

#[test]
fn newer_events_refused() {
    for kind in [9_999, u32::MAX] {
        let refusal = ["written by a newer tslp", "or a newer one"];
        check_refused(&with_a_newer_event(kind), &format!("kind {kind}"), refusal);
    }
}

#[test]
fn other_format_refused() {
    for version in [1, FORMAT_VERSION + 1] {
        let refusal = [
            "written by another version of tslp",
            "use the one that wrote it",
        ];
        check_refused(&with_another_format(version), "format", refusal);
    }
}
