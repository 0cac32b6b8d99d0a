//! What the model writes: full updates become true, damaged ones never do, and the next prompt says why.

use serde_json::json;

use crate::harness::{
    Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, fenced, prompt, state_block,
};
use crate::upstream::{Answer, Upstream};

/// A full update is promoted, and shown from then on.
#[test]
fn full_update() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let before = tslp.artifact(RING_PUT);
    upstream.will_say(format!("Done:\n\n{}", fenced("src/ring.c", RING_BETTER)));
    tslp.say("improve `ring_put`");
    upstream.next();
    let entity = tslp.state()[RING_PUT].clone();
    assert_ne!(entity["artifact"], before);
    assert_eq!(entity["origin"], "model");
    assert_eq!(
        tslp.last_episode()["artifact_states"],
        json!([
            {"entity": RING_PUT, "reason": "replaced", "state": "SUPERSEDED"},
            {"entity": RING_PUT, "reason": "structural_parity", "state": "AUTHORITATIVE"},
        ])
    );
    tslp.say("explain `ring_put`");
    assert_eq!(
        upstream.next().system(),
        state_block(RING_PUT, &tslp.artifact(RING_PUT), RING_BETTER)
    );
}

/// A file written as soon as the reply has ended is no divergence.
#[test]
fn written_after_reply() {
    for stream in [true, false, true, false, true, false] {
        let (places, upstream) = (Places::new(), Upstream::start());
        places.write("src/ring.c", RING);
        let tslp = Tslp::start(&places, &upstream);
        tslp.say(&fenced("src/ring.c", RING));
        upstream.will_say(fenced("src/ring.c", RING_BETTER));
        let mut request = prompt("improve `ring_put`");
        request["stream"] = stream.into();
        let mut client = tslp.asking(&request);
        if stream {
            client.until("[DONE]");
        } else {
            client.response();
        }
        places.write("src/ring.c", RING_BETTER);
        tslp.ended(2);
        let entity = &tslp.state()[RING_PUT];
        assert_eq!(entity["origin"], "model", "{}", tslp.last_episode());
    }
}

/// An edit that leaves out the rest is refused, and the next prompt says so once.
#[test]
fn elided_edit() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let before = tslp.state();
    let mut talk = Talk::new(&tslp);
    let lazy =
        "int ring_put(struct ring *r, int value) {\n    assert(r);\n    // ... rest unchanged\n}\n";
    upstream.will_say(fenced("src/ring.c", lazy));
    talk.ask("improve `ring_put`");
    upstream.next();
    assert_eq!(tslp.state(), before);
    let episode = tslp.last_episode();
    assert_eq!(
        episode["artifact_states"],
        json!([{"entity": RING_PUT, "reason": "elided", "state": "PROPOSED"}])
    );
    assert_eq!(
        episode["notices"],
        json!([{"entity": RING_PUT, "reason": "elided"}])
    );
    let notice = "[STATE NOTICE]\nThe last change to src/ring.c::ring_put was not accepted: it leaves out code behind a placeholder; give every definition in full.\nLine 3 has a placeholder: // ... rest unchanged\n[END NOTICE]";
    talk.ask("and now?");
    let system = upstream.next().system();
    // A model copies what it read last, so the true code is shown again after the refused one.
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    assert_eq!(system, format!("{block}\n\n{notice}"));
    talk.ask("thanks");
    let system = upstream.next().system();
    assert!(!system.contains("[STATE NOTICE]"), "{system}");
}

#[test]
fn unlinked_code() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("```c\nint unrelated(void) {\n    return 1;\n}\n```\n");
    talk.ask("write something");
    upstream.next();
    assert_eq!(tslp.state(), json!({}));
    talk.ask("go on");
    let system = upstream.next().system();
    let law = "[STATE NOTICE]\nThe previous output could not be structurally linked to a known entity.\nIt has NOT modified the State Map.\n[END NOTICE]";
    assert_eq!(system, law);
}

#[test]
fn lost_or_cut_short() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.state();
    let hollow = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";
    upstream.will_say(fenced("src/ring.c", hollow));
    tslp.say("improve `ring_put`");
    assert_eq!(
        tslp.last_episode()["artifact_states"][0]["reason"],
        "nodes_collapsed"
    );
    upstream.will_say(format!("```c:src/ring.c\n{RING_BETTER}"));
    tslp.say("improve `ring_put`");
    assert_eq!(
        tslp.last_episode()["artifact_states"][0]["reason"],
        "truncated"
    );
    let cut = json!({"choices": [{
        "index": 0,
        "message": {"role": "assistant", "content": fenced("src/ring.c", RING_BETTER)},
        "finish_reason": "length",
    }]});
    upstream.will(Answer::Plain(
        200,
        "application/json",
        cut.to_string().into_bytes(),
    ));
    tslp.say("improve `ring_put`");
    assert_eq!(
        tslp.last_episode()["artifact_states"][0]["reason"],
        "truncated"
    );
    assert_eq!(tslp.state(), before);
}

#[test]
fn strict_profile() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--profile", "strict"]);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.state();
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    assert_eq!(tslp.state(), before);
    let states = &tslp.last_episode()["artifact_states"];
    assert_eq!(states[0]["reason"], "grant_missing");
}

#[test]
fn paste_overrules_model() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let mine = tslp.artifact(RING_PUT);
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    tslp.say(&format!("No, keep this:\n\n{}", fenced("src/ring.c", RING)));
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["artifact"], mine);
    assert_eq!(entity["origin"], "user");
}

/// A whole file: its first line is no definition.
fn whole(functions: &str) -> String {
    format!("#include \"ring.h\"\n\n{functions}")
}

const SIZE: &str = "int ring_size(struct ring *r) {\n    return r->size;\n}\n";

/// A whole file by the model that drops a function is refused as a whole.
#[test]
fn model_drops_function() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", &whole(&format!("{SIZE}\n{RING}"))));
    let before = tslp.state();
    upstream.will_say(fenced("src/ring.c", &whole(RING_BETTER)));
    tslp.say("improve src/ring.c");
    assert_eq!(tslp.state(), before);
    let episode = tslp.last_episode();
    let states = episode["artifact_states"].as_array().unwrap();
    assert!(!states.is_empty());
    for state in states {
        assert_eq!(state["state"], "PROPOSED", "{episode}");
    }
    assert_eq!(episode["notices"][0]["reason"], "symbols_lost");
}

/// A whole file by the user removes what it leaves out.
#[test]
fn user_leaves_out() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", &whole(&format!("{SIZE}\n{RING}"))));
    upstream.next();
    assert!(tslp.state()["src/ring.c::ring_size"].is_object());
    tslp.say(&fenced("src/ring.c", &whole(RING)));
    upstream.next();
    assert!(tslp.state()["src/ring.c::ring_size"].is_null());
    let episode = tslp.last_episode();
    let states = episode["artifact_states"].as_array().unwrap();
    let removed = json!({"entity": "src/ring.c::ring_size", "reason": "omitted_by_update", "state": "TOMBSTONED"});
    assert!(states.contains(&removed), "{episode}");
    tslp.say("what was ring_size?");
    let system = upstream.next().system();
    assert!(!system.contains("int ring_size"), "{system}");
}

/// A fragment by the user removes nothing.
#[test]
fn fragment_by_the_user() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", &whole(&format!("{SIZE}\n{RING}"))));
    tslp.say(&fenced("src/ring.c", RING_BETTER));
    let state = tslp.state();
    assert!(state["src/ring.c::ring_size"].is_object(), "{state}");
    assert_eq!(state[RING_PUT]["origin"], "user");
    tslp.say(&format!("```c src/ring.c (3-6)\n{RING}```\n"));
    assert!(tslp.state()["src/ring.c::ring_size"].is_object());
}

/// Code on disk that was never shown is not overwritten by the model.
#[test]
fn never_shown_code() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::with(&places, &upstream.url, &["--adopt-on-touch=false"]);
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("write `ring_put` in src/ring.c");
    assert_eq!(tslp.state(), json!({}));
    let states = &tslp.last_episode()["artifact_states"];
    assert_eq!(states[0]["reason"], "base_unacknowledged");
}

#[test]
fn forms_of_replies() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let parts = json!({"choices": [{
        "index": 0,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
        "finish_reason": "stop",
    }]});
    upstream.will(Answer::Plain(
        200,
        "application/json",
        parts.to_string().into_bytes(),
    ));
    tslp.say("hello");
    assert_eq!(tslp.last_episode()["outcome"], "completed");
}

/// A file that a prompt names is known before the model changes it.
#[test]
fn named_file_is_known() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    places.write(".gitignore", "build/\n*.gen.c\n!kept.gen.c\n");
    for ignored in ["build/ring.c", "src/ring.gen.c", ".hidden/ring.c"] {
        places.write(ignored, RING);
    }
    places.write("src/kept.gen.c", "int kept(void) { return 1; }\n");
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say(
        "write `ring_put` in src/ring.c, not in build/ring.c, src/ring.gen.c or .hidden/ring.c; see src/kept.gen.c",
    );
    let sent = upstream.next().system();
    assert!(sent.contains("r->slots[r->head] = value;"), "{sent}");
    let state = tslp.state();
    let known: Vec<&String> = state.as_object().expect("an object").keys().collect();
    let kept = ["src/kept.gen.c", "src/kept.gen.c::kept"];
    assert_eq!(known, [kept[0], kept[1], "src/ring.c", RING_PUT]);
    assert_eq!(state[RING_PUT]["origin"], "model");
}
