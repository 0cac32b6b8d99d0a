//! A reply that is still coming is in the ledger already.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::json;
use tslp_core::event::{Event, Recorded};
use tslp_core::ids::Seq;
use tslp_store::ledger::reader::ReaderFactory;
use tslp_store::ledger::{DataFiles, OpenOptions};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, fenced, prompt, user};
use crate::ledger_file;
use crate::upstream::{Answer, Step, Upstream, barrier, closing, event, last_events};

/// The events of a kind and what they name, read from the file as it is.
fn recorded(data: &Path) -> Vec<Recorded> {
    let readers = ReaderFactory::new(&DataFiles::of(data), &OpenOptions::default());
    let mut events = Vec::new();
    let read = readers.open().unwrap().read(Seq(1), &mut |stored| {
        let event = tslp_migrations::decode(stored.kind, &stored.payload).unwrap();
        events.push(stored.recorded(event));
        ControlFlow::Continue(())
    });
    read.unwrap();
    events
}

/// The text of an episode's reply, as far as it was recorded while it came.
fn streamed(data: &Path, episode: u64) -> String {
    let mut texts = BTreeMap::new();
    let mut said = String::new();
    for recorded in recorded(data) {
        let of = recorded.episode.0;
        match recorded.event {
            Event::Content(content) => {
                texts.insert(content.hash, content.bytes);
            }
            Event::ReplySegment(segment) if of == episode => {
                said.push_str(std::str::from_utf8(&texts[&segment.content]).unwrap());
            }
            _ => {}
        }
    }
    said
}

/// A crash keeps the text that the client has.
#[test]
fn text_kept_in_crash() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let said = format!(
        "Here is what I change, and why:\n{}{}It is done, ",
        "the buffer must not overflow\n".repeat(27),
        fenced("src/ring.c", RING_BETTER)
    );
    let lines = said.split_inclusive('\n').map(event).map(Step::Chunk);
    let (_told, stall) = closing();
    upstream.will(Answer::Steps(lines.chain([stall]).collect()));
    let mut client = tslp.asking(&prompt("improve `ring_put`"));
    client.until("It is done, ");
    eventually(|| (streamed(&places.data, 2) == said).then_some(()));
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.ended(2)["outcome"], "interrupted");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    assert_eq!(tslp.page("/doctor")["ok"], true);
    tslp.stop();
    assert_eq!(streamed(&places.data, 2), said);
    let (code, report) = places.cli_json(&["verify", "--deep"]);
    assert_eq!((code, &report["ok"]), (0, &json!(true)), "{report}");
}

/// The client has every word long before its commit.
/// law 13 | The client waits for no byte longer than it must
/// law 13 | The first chunk isn't held up
#[test]
fn no_byte_waits() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let key = "sk-proj-abcdEFGH1234567890abcd";
    let (start, end) = key.split_at(12);
    let (go_on, wait) = barrier();
    upstream.will(Answer::Steps(vec![
        Step::Chunk(event(&format!("the key is {start}"))),
        wait,
        Step::Chunk(event(&format!("{end}, keep it"))),
        Step::Chunk(last_events()),
    ]));
    let mut client = tslp.asking(&json!({"messages": [user("q")], "stream": true}));
    client.until(start);
    eventually(|| (streamed(&places.data, 1) == "the key is ").then_some(()));
    go_on.send(()).unwrap();
    assert_eq!(
        client.response().said(),
        format!("the key is {key}, keep it")
    );
    tslp.ended(1);
    tslp.stop();
    let bytes = ledger_file::evidence(&places.data);
    assert!(!bytes.values().any(|bytes| ledger_file::holds(bytes, end)));
}
