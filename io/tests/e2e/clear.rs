//! `clear`: what a conversation held so far goes to no model any more, in every dialect with messages.

use serde_json::{Value, json};

use crate::harness::{JSON, Places, Talk, Tslp, prompt, user};
use crate::upstream::{Answer, Step, Upstream};

/// One dialect: its route, its field of messages, messages with a call and its result, and how a text is said.
struct Spoken {
    path: &'static str,
    field: &'static str,
    worked: fn() -> Value,
    user: fn(&str) -> Value,
    model: fn(&str) -> Value,
}

const SPOKEN: [Spoken; 4] = [
    Spoken {
        path: "/v1/chat/completions",
        field: "messages",
        worked: || {
            json!([
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "look around"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "a.txt"},
                {"role": "assistant", "content": "There is a file."}])
        },
        user: |text| json!({"role": "user", "content": text}),
        model: |text| json!({"role": "assistant", "content": text}),
    },
    Spoken {
        path: "/v1/messages",
        field: "messages",
        worked: || {
            json!([
                {"role": "user", "content": [
                    {"type": "text", "text": "<system-reminder>\nThe project is old.\n</system-reminder>"},
                    {"type": "text", "text": "look around"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s1"},
                    {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"},
                    {"type": "text", "text": "<system-reminder>\nBe quick.\n</system-reminder>"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "There is a file."}]}])
        },
        user: |text| json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        model: |text| json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
    },
    Spoken {
        path: "/v1/responses",
        field: "input",
        worked: || {
            json!([
                {"type": "message", "role": "user", "content": [{"type": "input_text",
                    "text": "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nThe project is old.\n</INSTRUCTIONS>"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look around"}]},
                {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
                {"type": "function_call", "call_id": "t1", "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "t1", "output": "a.txt"},
                {"type": "message", "role": "assistant", "content": [
                    {"type": "output_text", "text": "There is a file."}]}])
        },
        user: |text| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}),
        model: |text| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
    },
    Spoken {
        path: "/api/chat",
        field: "messages",
        worked: || {
            json!([
                {"role": "user", "content": "look around"},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "ls", "arguments": {}}}]},
                {"role": "tool", "content": "a.txt"},
                {"role": "assistant", "content": "There is a file."}])
        },
        user: |text| json!({"role": "user", "content": text}),
        model: |text| json!({"role": "assistant", "content": text}),
    },
];

impl Spoken {
    /// Sends the messages; gives those that the model got.
    fn ask(&self, tslp: &Tslp<'_>, upstream: &Upstream, messages: &Value, reply: &str) -> Value {
        upstream.will_say(reply);
        let mut body = json!({"model": "m", "stream": false, "tools": [{"name": "ls"}]});
        body[self.field] = messages.clone();
        let body = body.to_string();
        let response = tslp.request("POST", self.path, &[JSON], body.as_bytes());
        assert_eq!(response.status(), 200, "{}", self.path);
        let mut seen = upstream.next().json();
        assert_eq!(seen["tools"], json!([{"name": "ls"}]), "{}", self.path);
        seen[self.field].take()
    }
}

/// law engine 8 | A conversation is cleared where its user's prompt begins: older messages go to no model any more, and where the work stands is told once ([memory.md](memory.md)) | context_cleared, clear_asked
#[test]
fn calls_keep_results() {
    for spoken in &SPOKEN {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        let mut messages = (spoken.worked)();
        // What the client itself says at the beginning stays.
        let is_own = |message: &Value| {
            let text = message.to_string();
            ["Be brief.", "The project is old."]
                .iter()
                .any(|it| text.contains(it))
        };
        let systems = usize::from(is_own(&messages[0]));
        let add = |messages: &mut Value, message| messages.as_array_mut().unwrap().push(message);
        add(&mut messages, (spoken.user)("And now?"));
        let seen = spoken.ask(&tslp, &upstream, &messages, "Two.");
        assert_eq!(seen, messages, "{}", spoken.path);
        add(&mut messages, (spoken.model)("Two."));
        add(&mut messages, (spoken.user)("@tslp clear\nAnd then?"));
        let cleared = spoken.ask(&tslp, &upstream, &messages, "Three.");
        let text = cleared.to_string();
        // What the user said there is a message of its own in Responses.
        let beside = usize::from(spoken.field == "input");
        let kept = systems + beside + 1;
        assert_eq!(cleared.as_array().unwrap().len(), kept, "{text}");
        assert_eq!(is_own(&cleared), systems == 1, "{text}");
        assert!(text.contains("And then?"), "{text}");
        for gone in ["look around", "t1", "a.txt", "Be quick.", "Two."] {
            assert!(!text.contains(gone), "{}: {gone}: {text}", spoken.path);
        }
        assert_eq!(text.matches("[SESSION RECOVERY: READ-ONLY]").count(), 1);
        assert!(text.contains("Asked last: And now?"), "{text}");
        // What went out stays where it was.
        add(&mut messages, (spoken.model)("Three."));
        add(&mut messages, (spoken.user)("Thanks."));
        let after = spoken.ask(&tslp, &upstream, &messages, "Welcome.");
        let (before, after) = (cleared.as_array().unwrap(), after.as_array().unwrap());
        assert_eq!(after[..before.len()], before[..], "{}", spoken.path);
        assert_eq!(after.len(), before.len() + 2, "{}", spoken.path);
        tslp.at_rest();
        tslp.stop();
        let (code, report) = places.cli_json(&["verify", "--deep"]);
        assert_eq!(code, 0, "{}: {report}", spoken.path);
    }
}

#[test]
fn survives_a_kill() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let (code, done) = places.cli_json(&["clear"]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (1, &json!("no_session"))
    );
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("One.");
    talk.ask("What is first?");
    let shown = upstream.next().text();
    assert!(!shown.contains("SESSION RECOVERY"), "{shown}");
    let (code, done) = places.cli_json(&["clear"]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("clear_asked"))
    );
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    let messages = [
        user("What is first?"),
        json!({"role": "assistant", "content": "One."}),
        user("What is second?"),
    ];
    for killed in [true, false] {
        upstream.will_say("Two.");
        tslp.chat(&json!({"model": "m", "messages": messages, "tools": []}));
        let seen = upstream.next().json();
        assert_eq!(seen["messages"].as_array().unwrap().len(), 1, "{seen}");
        assert!(seen.to_string().contains("Asked last: What is first?"));
        if killed {
            tslp.at_rest();
        }
    }
    // Another conversation is nobody's business.
    upstream.will_say("Three.");
    tslp.chat(&prompt("Something else."));
    assert!(!upstream.next().text().contains("SESSION RECOVERY"));
    tslp.kill();
    let (code, report) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{report}");
}

/// Decisions without evidence hold back a clear from a terminal.
#[test]
fn ungrounded_decisions() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("One.");
    tslp.chat(&prompt("What is first?"));
    let clear = |arguments: &[&str]| {
        let (code, done) = places.cli_json(&[&["clear"], arguments].concat());
        let result = &done["targets"][0];
        let text = |field: &str| result[field].as_str().unwrap().to_owned();
        (code, text("outcome"), text("words"))
    };
    places.cli_json(&["note", "decision #queue: One writer thread."]);
    let (code, outcome, words) = clear(&[]);
    assert_eq!((code, outcome.as_str()), (1, "decisions_ungrounded"));
    assert_eq!(
        words,
        "Cannot clear: 1 decision lacks evidence.\nGrounding ratio 0.00, required 0.95. Add evidence or mark [ASSUMPTION].\n  #queue: no citation"
    );
    let output = places.in_workspace(&["clear"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, format!("{words}\n"), "line by line");
    let (code, outcome, words) = clear(&["--force", "--session", "7"]);
    assert_eq!((code, outcome.as_str()), (1, "no_session"), "{words}");
    let (code, outcome, _) = clear(&["--force", "--session", "1"]);
    assert_eq!((code, outcome.as_str()), (0, "cleared_ungrounded"));
    tslp.at_rest();
    tslp.stop();
    let tslp = Tslp::with(&places, &upstream.url, &["--clear-grounding", "warn"]);
    let (code, outcome, _) = clear(&[]);
    assert_eq!((code, outcome.as_str()), (0, "cleared_ungrounded"));
    places.cli_json(&["note", "decision #queue: One writer thread. [ASSUMPTION]"]);
    let (code, outcome, _) = clear(&[]);
    assert_eq!((code, outcome.as_str()), (0, "clear_asked"));
    tslp.stop();
}

/// The prompt that clears is on record with its clear, or neither is: whatever is resent, what goes out is whole or cleared.
#[test]
fn whole_or_absent() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let messages = [
        user("What is first?"),
        json!({"role": "assistant", "content": "One."}),
        user("@tslp clear\nWhat is second?"),
    ];
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("One.");
    Talk::new(&tslp).ask("What is first?");
    upstream.next();
    let (_hold, held) = crossbeam_channel::bounded(0);
    upstream.will(Answer::Silence(Step::Await(held)));
    let waiting = tslp.asking(&json!({"model": "m", "messages": messages}));
    upstream.next();
    tslp.kill();
    drop(waiting);
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("Two.");
    tslp.chat(&json!({"model": "m", "messages": messages}));
    let seen = upstream.next().json();
    let count = seen["messages"].as_array().unwrap().len();
    let is_told = seen
        .to_string()
        .contains("The user cleared the earlier messages");
    assert!(
        (count, is_told) == (1, true) || (count, is_told) == (3, false),
        "{seen}"
    );
    tslp.at_rest();
    tslp.stop();
    let (code, report) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{report}");
}
