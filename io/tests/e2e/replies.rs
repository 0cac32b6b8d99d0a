//! What people see of replies while a proxy runs: on its terminal, by `log --follow`, and in a header.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use tslp_scripted::{Encoding, Prompt, encoded};
use tslp_wire::chat::dialect::Dialect;

use crate::harness::{JSON, Places, RING, RING_BETTER, Tslp, fenced, prompt};
use crate::upstream::{Reply, Upstream};

/// A reply is a line on the terminal and for everybody who follows.
#[test]
fn line_for_each_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let mut follower = places.in_workspace(&["log", "--follow"]);
    let mut follower = follower.stdout(Stdio::piped()).spawn().unwrap();
    let mut followed = BufReader::new(follower.stdout.take().unwrap()).lines();
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("Improve `ring_put` of src/ring.c, please, and mind the full buffer and the counter.");
    upstream.will_say(fenced(
        "src/ring.c",
        &RING_BETTER.replace("    return 0;\n", "    // ... rest unchanged\n"),
    ));
    tslp.say("Improve `ring_put` again.");
    let mut told = Vec::new();
    let mut next = |told: &mut Vec<String>, line: &str| {
        let seen = followed.next().unwrap().unwrap();
        assert!(seen.starts_with(line), "{seen:?} isn't {line:?}");
        told.push(line.to_owned());
    };
    for line in [
        "e1 \"…\": 1 taken as yours, about ",
        "e2 \"Improve `ring_put` of src/ring.c, please, and mind the full…\": +1 true, about ",
        "e3 \"Improve `ring_put` again.\": 1 refused: ring_put lost 1 line, about ",
    ] {
        next(&mut told, line);
    }
    let answer = tslp.chat(&prompt(
        "@tslp reject src/ring.c::ring_put\n@tslp bless it\nGo on.",
    ));
    let header = "reject src/ring.c::ring_put: the model's version is dropped; it: no directive; these are: accept, reject, confirm, allow, revoke, stop, resume, off, on, lock, unlock, external, goal, note, forget, clear";
    assert_eq!(answer.header("x-tslp-directives"), Some(header));
    let accepted = places
        .in_workspace(&["accept", "src/ring.c"])
        .output()
        .unwrap();
    assert!(accepted.status.success(), "{accepted:?}");
    for line in [
        "e4 @tslp reject src/ring.c::ring_put: the model's version is dropped",
        "e4 @tslp it: no directive; these are: ",
        "e4 \"Go on.\": about ",
        "tslp accept ./src/ring.c: ",
    ] {
        next(&mut told, line);
    }
    follower.kill().unwrap();
    follower.wait().unwrap();
    let printed = tslp.stop();
    let printed: Vec<&str> = printed
        .lines()
        .filter(|line| !line.starts_with(['u', 'w', '`']))
        .collect();
    assert_eq!(printed.len(), told.len(), "{printed:?}");
    for (seen, line) in printed.iter().zip(&told) {
        assert!(seen.starts_with(&**line), "{seen:?} isn't {line:?}");
    }
}

#[test]
fn quiet_proxy() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["-q"]);
    tslp.say("hello");
    assert!(!tslp.stop().contains("hello"));
}

/// What isn't read as its dialect's, or not at once, is the client's all the same, and nobody's code.
#[test]
fn odd_bodies() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    let reply = |odd: Value| -> Reply { serde_json::from_value(odd).unwrap() };
    for dialect in Dialect::ALL {
        for offers in [false, true] {
            for odd in [
                json!({"text": "Zero.", "encoding": "gzip"}),
                json!({"text": "Zero.", "encoding": "deflate"}),
                json!({"text": "Zero.", "encoding": "mark"}),
                json!({"text": "Zero.", "odd": [{"field": "/seed", "set": "S"}, {"replace": ["\"S\"", "NaN"]}]}),
                json!({"text": "Zero.", "odd": [{"field": "/seed", "set": "S"}, {"replace": ["\"S\"", "1e400"]}]}),
                json!({"text": "Zero.", "odd": [{"replace": ["Zero.", "Zero. \\ud83d"]}]}),
                json!({"body": "the model is busy"}),
                json!({"body": ""}),
            ] {
                let plain = reply(odd.clone());
                let plain = Reply {
                    encoding: Encoding::Plain,
                    ..plain
                };
                let mut expected = encoded(dialect, false, &plain).1.concat();
                if odd["encoding"] == "mark" {
                    expected.splice(0..0, "\u{feff}".bytes());
                }
                upstream.will(reply(odd.clone()));
                let mut prompt = Prompt::user("What does it return?");
                if offers {
                    prompt = prompt.offering("read", &["path"]);
                }
                let body = prompt.body(dialect).to_string();
                let got = tslp.request("POST", dialect.route_path(), &[JSON], body.as_bytes());
                let said = String::from_utf8_lossy(&got.body);
                assert_eq!((got.status(), got.whole), (200, true), "{dialect:?} {odd}");
                assert_eq!(
                    said,
                    String::from_utf8_lossy(&expected),
                    "{dialect:?} {offers} {odd}"
                );
                assert_eq!(got.header("content-encoding"), None, "{dialect:?} {odd}");
                let outcome = tslp.ended(got.episode())["outcome"].clone();
                let is_read = odd["text"] == "Zero.";
                assert_eq!(
                    outcome == "completed",
                    is_read,
                    "{dialect:?} {odd}: {outcome}"
                );
            }
        }
    }
    tslp.stop();
    places.verify_deep();
}
