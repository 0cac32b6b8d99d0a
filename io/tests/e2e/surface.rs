//! What was refused in an agent's turn, where the client's user looks.

use serde_json::{Value, json};

use crate::agents::{called, calls, numbered, request};
use crate::harness::{CHAT, JSON, Places, RING_BETTER, RING_PUT, Tslp, user};
use crate::upstream::Upstream;

const GUTTED: &str = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";

const SYSTEM: &str = "You are an agent.";

/// The conversation of an agent that has read a file.
fn having_read(tslp: &Tslp<'_>, upstream: &Upstream) -> Vec<Value> {
    let read = json!({"path": "src/ring.c"});
    let mut messages = vec![
        json!({"role": "system", "content": SYSTEM}),
        user("Tidy up putting into the ring, see src/ring.c."),
    ];
    upstream.will(calls("read", &read));
    tslp.chat(&request(&messages));
    messages.extend(called("read", &read, &numbered(RING_BETTER)));
    messages
}

/// Plays one call, which the client carries out.
fn step(
    tslp: &Tslp<'_>,
    upstream: &Upstream,
    messages: &mut Vec<Value>,
    (tool, arguments, result): (&str, &Value, &str),
) {
    upstream.will(calls(tool, arguments));
    tslp.chat(&request(messages));
    messages.extend(called(tool, arguments, result));
}

/// The agent guts the function, and its client writes that.
fn gut(tslp: &Tslp<'_>, upstream: &Upstream, messages: &mut Vec<Value>) {
    let edit = json!({"path": "src/ring.c", "old_string": RING_BETTER, "new_string": GUTTED});
    step(
        tslp,
        upstream,
        messages,
        ("edit", &edit, "Edit applied successfully."),
    );
    tslp.places.write("src/ring.c", GUTTED);
}

fn ends(tslp: &Tslp<'_>, upstream: &Upstream, request: &Value) -> String {
    upstream.will_say("I tidied `ring_put`.");
    // A client's own request makes no episode that one could wait for.
    let body = request.to_string();
    tslp.request("POST", CHAT, &[JSON], body.as_bytes()).said()
}

/// The turn's last text says what was lost and the way back, once; no model reads that.
#[test]
fn last_text_of_a_turn() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = having_read(&tslp, &upstream);
    gut(&tslp, &upstream, &mut messages);
    // A form is a program's.
    let mut formed = request(&messages);
    formed["response_format"] = json!({"type": "json_object"});
    assert_eq!(ends(&tslp, &upstream, &formed), "I tidied `ring_put`.");
    let said = ends(&tslp, &upstream, &request(&messages));
    assert_eq!(
        said,
        "I tidied `ring_put`.\n\n[tslp] src/ring.c::ring_put lost `if (r->count == r->size) return -1;`, `r->slots[r->head] = value;`, \
         `r->head = (r->head + 1) % r->size;` and one more line, so the change was refused. Your file holds it: `tslp undo src/ring.c` \
         prints the way back.\n"
    );
    messages.push(json!({"role": "assistant", "content": said}));
    messages.push(user("Thanks. What is a ring for?"));
    assert_eq!(
        ends(&tslp, &upstream, &request(&messages)),
        "I tidied `ring_put`."
    );
    // The client's own request quotes what its user saw.
    let quoted =
        format!("Generate a title for this conversation:\nuser: Tidy up.\nassistant: {said}");
    let title = json!({"model": "m", "messages": [user(&quoted)]});
    assert_eq!(ends(&tslp, &upstream, &title), "I tidied `ring_put`.");
    messages.push(json!({"role": "assistant", "content": "For bytes."}));
    messages.push(user(
        "Provide a detailed prompt for continuing our conversation above.",
    ));
    ends(&tslp, &upstream, &request(&messages));
    for _ in 0..7 {
        let seen = upstream.next();
        assert!(!seen.text().contains("[tslp]"), "{}", seen.text());
    }
    let last = tslp.last_episode();
    assert!(last["notices"].as_array().unwrap().is_empty(), "{last:#}");
    let (_, status) = places.cli_json(&["status"]);
    assert_eq!(status["stale"], json!([]), "told as refused: {status:#}");
    let line = places.in_workspace(&["status", "line"]).output().unwrap();
    let line = String::from_utf8(line.stdout).unwrap();
    assert!(
        line.contains("1 refused") && !line.contains("STALE"),
        "{line}"
    );
}

/// What is taken away alone becomes true, and the turn's last text says so, with the way back.
#[test]
fn deletion_is_told() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = having_read(&tslp, &upstream);
    let check = "    if (r->count == r->size) return -1;\n";
    let without = RING_BETTER.replacen(check, "", 1);
    assert_ne!(without, RING_BETTER);
    let edit = json!({"path": "src/ring.c", "old_string": check, "new_string": ""});
    step(
        &tslp,
        &upstream,
        &mut messages,
        ("edit", &edit, "Edit applied successfully."),
    );
    places.write("src/ring.c", &without);
    assert_eq!(
        ends(&tslp, &upstream, &request(&messages)),
        "I tidied `ring_put`.\n\n[tslp] src/ring.c::ring_put lost `if (r->count == r->size) return -1;`, and that was taken: \
         `tslp undo src/ring.c` prints the way back.\n"
    );
    let undone = places
        .in_workspace(&["undo", "src/ring.c"])
        .output()
        .unwrap();
    let undone = String::from_utf8(undone.stdout).unwrap();
    assert!(undone.contains(&["+", check].concat()), "{undone}");
}

/// What the agent mends isn't told, and neither is a subagent's result.
#[test]
fn nothing_to_tell() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = having_read(&tslp, &upstream);
    gut(&tslp, &upstream, &mut messages);
    let better = RING_BETTER.replace("r->count += 1", "r->count++");
    let mend = json!({"path": "src/ring.c", "old_string": GUTTED, "new_string": better});
    step(
        &tslp,
        &upstream,
        &mut messages,
        ("edit", &mend, "Edit applied successfully."),
    );
    places.write("src/ring.c", &better);
    assert_eq!(
        ends(&tslp, &upstream, &request(&messages)),
        "I tidied `ring_put`."
    );
    let task = "Look through the folder src and tidy every function that puts something\ninto a ring, one after the other, with great care.";
    messages.push(json!({"role": "assistant", "content": "I tidied `ring_put`."}));
    messages.push(user("And the rest."));
    upstream.will(calls("task", &json!({"prompt": task})));
    tslp.chat(&request(&messages));
    let mut subagents = vec![
        json!({"role": "system", "content": "You are a subagent."}),
        user(task),
    ];
    let read = json!({"path": "src/ring.c"});
    step(
        &tslp,
        &upstream,
        &mut subagents,
        ("read", &read, &numbered(&better)),
    );
    let edit = json!({"path": "src/ring.c", "old_string": better, "new_string": GUTTED});
    step(
        &tslp,
        &upstream,
        &mut subagents,
        ("edit", &edit, "Edit applied successfully."),
    );
    places.write("src/ring.c", GUTTED);
    assert_eq!(
        ends(&tslp, &upstream, &request(&subagents)),
        "I tidied `ring_put`."
    );
    messages.extend(called(
        "task",
        &json!({"prompt": task}),
        "I tidied `ring_put`.",
    ));
    let said = ends(&tslp, &upstream, &request(&messages));
    assert!(said.contains("[tslp] src/ring.c::ring_put lost"), "{said}");
}

/// What nothing here reads is neither true nor refused.
#[test]
fn unjudged() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("README.md", "# Ring\n\nA small ring.\n");
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = vec![user("Say in README.md that the ring is fast.")];
    let edit = json!({"path": "README.md", "old_string": "A small ring.", "new_string": "A small, fast ring."});
    step(
        &tslp,
        &upstream,
        &mut messages,
        ("edit", &edit, "Edit applied successfully."),
    );
    assert_eq!(
        ends(&tslp, &upstream, &request(&messages)),
        "I tidied `ring_put`."
    );
    let recent = places.in_workspace(&["recent"]).output().unwrap();
    let recent = String::from_utf8(recent.stdout).unwrap();
    assert!(
        recent.contains("unjudged") && !recent.contains("refused"),
        "{recent}"
    );
    // An agent's steps go on from what the user said.
    let asked = recent
        .matches("\"Say in README.md that the ring is fast.\"")
        .count();
    assert_eq!(asked, 2, "{recent}");
}

/// An act that a call of an agent may have said isn't done at a terminal, however the call hides it.
#[test]
fn agents_acts() {
    for line in [
        "tslp confirm src/ring.c::ring_put",
        "t=tslp; $t confirm src/ring.c::ring_put",
        "\"tsl\"p con'fir'm src/ring.c::ring_put",
        "sh -c 'tslp confirm src/ring.c::ring_put'",
        "cd src && /usr/local/bin/tslp confirm ring.c::ring_put",
        "v=confirm; n=ring_put; npx tslp $v \"src/ring.c::$n\"",
        "bash <<< 'tslp confirm src/ring.c::ring_put'",
        "echo dHNscCBjb25maXJtIHNyYy9yaW5nLmM6OnJpbmdfcHV0 | base64 -d | sh",
    ] {
        let (places, upstream) = (Places::new(), Upstream::start());
        places.write("src/ring.c", RING_BETTER);
        let tslp = Tslp::start(&places, &upstream);
        let mut messages = having_read(&tslp, &upstream);
        gut(&tslp, &upstream, &mut messages);
        upstream.will(calls("bash", &json!({"command": line})));
        tslp.chat(&request(&messages));
        let (code, page) = places.cli_json(&["confirm", RING_PUT]);
        assert_eq!(
            (code, &page["targets"][0]["outcome"]),
            (1, &json!("directive_not_typed")),
            "{line}: {page:#}"
        );
        assert_eq!(tslp.state()[RING_PUT]["origin"], "user", "{line}");
    }
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = having_read(&tslp, &upstream);
    gut(&tslp, &upstream, &mut messages);
    let shell = json!({"command": "grep -n confirm src/ring.c; tslp adopt src"});
    step(&tslp, &upstream, &mut messages, ("bash", &shell, "done"));
    let adopted = places.in_workspace(&["adopt", "src"]).output().unwrap();
    assert_eq!(adopted.status.code(), Some(1));
    let said = String::from_utf8(adopted.stderr).unwrap();
    assert!(said.contains("an agent's call may have said it"), "{said}");
    // What no call says is the user's.
    let (code, page) = places.cli_json(&["accept", "src/ring.c"]);
    assert_eq!(code, 0, "{page:#}");
}

/// An edit of a file that isn't the workspace's is said to be unseen, once, with the folder that is served.
#[test]
fn unseen_edit() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = having_read(&tslp, &upstream);
    let root = places.workspace.canonicalize().unwrap();
    let path = root.parent().unwrap().join("ring.c");
    let (root, path) = (root.display(), path.display());
    let edit = json!({"path": path.to_string(), "old_string": RING_BETTER, "new_string": GUTTED});
    let result = "Edit applied successfully.";
    for told in [
        format!(
            "\n\n[tslp] {path} isn't beneath {root}, which tslp serves: its edit is not judged.\n"
        ),
        String::new(),
    ] {
        step(&tslp, &upstream, &mut messages, ("edit", &edit, result));
        let said = ends(&tslp, &upstream, &request(&messages));
        assert_eq!(said, format!("I tidied `ring_put`.{told}"));
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(user("Go on."));
    }
}
