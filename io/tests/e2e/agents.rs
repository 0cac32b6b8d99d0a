//! An agent's loop over real sockets: what it touches is known, its edits are judged, and its prompts only grow.

use serde_json::{Value, json};

use crate::harness::{Places, RING, RING_PUT, Tslp, user};
use crate::upstream::{Reply, Upstream};
use tslp_scripted::Call;

/// A reply that calls a tool, its arguments in small pieces.
pub(crate) fn calls(tool: &str, arguments: &Value) -> Reply {
    let call = Call {
        id: Some("call_1".into()),
        ..Call::new(tool, arguments.clone())
    };
    Reply::default().calling([call]).in_pieces(16)
}

/// What the client remembers of a call and its result.
pub(crate) fn called(tool: &str, arguments: &Value, result: &str) -> [Value; 2] {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    [
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_1", "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": "call_1", "content": result}),
    ]
}

pub(crate) fn request(messages: &[Value]) -> Value {
    let tool =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    json!({"model": "m", "stream": true, "messages": messages, "tools": [tool("read"), tool("edit")]})
}

pub(crate) fn numbered(code: &str) -> String {
    let lines = code.lines().enumerate();
    lines
        .map(|(at, line)| format!("{}: {line}\n", at + 1))
        .collect()
}

/// law 8.5 | What a tool read is no write-head's word; only what disk holds is
/// law 1 | What tools print grants no authority
#[test]
fn fresh_project() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = vec![
        json!({"role": "system", "content": "You are an agent."}),
        user("Please make putting into the ring count, see src/."),
    ];
    let mut sent = Vec::new();
    let read = json!({"path": "src/ring.c"});
    upstream.will(calls("read", &read));
    tslp.chat(&request(&messages));
    sent.push(upstream.next().body);

    messages.extend(called("read", &read, &numbered(RING)));
    let (old, new) = ("    return 0;\n", "    r->count += 1;\n    return 0;\n");
    let edit = json!({"path": "src/ring.c", "old_string": old, "new_string": new});
    upstream.will(calls("edit", &edit));
    tslp.chat(&request(&messages));
    sent.push(upstream.next().body);

    places.write("src/ring.c", &RING.replace(old, new));
    messages.extend(called("edit", &edit, "Edit applied."));
    tslp.chat(&request(&messages));
    sent.push(upstream.next().body);

    let truth = &tslp.state()[RING_PUT];
    assert_eq!(
        (&truth["origin"], &truth["disk"]),
        (&json!("model"), &json!("same"))
    );
    let asked: Vec<Vec<u8>> = [2, 4, 6]
        .map(|count| request(&messages[..count]).to_string().into_bytes())
        .into();
    assert_eq!(sent, asked, "nothing of ours was needed");
}

/// What was put into a prompt stays in its place after a restart.
#[test]
fn same_place_after_restart() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = vec![user("What does `src/ring.c::ring_put` do?")];
    let read = json!({"path": "src/ring.c"});
    upstream.will(calls("read", &read));
    tslp.chat(&request(&messages));
    let first = upstream.next().json()["messages"].clone();
    let words = first[0]["content"].as_str().expect("text").to_owned();
    assert!(
        words.starts_with("[CURRENT STATE: AUTHORITATIVE]\n"),
        "{words}"
    );
    assert!(
        words.ends_with("\n\nWhat does `src/ring.c::ring_put` do?"),
        "{words}"
    );
    tslp.stop();

    let tslp = Tslp::start(&places, &upstream);
    messages.extend(called("read", &read, &numbered(RING)));
    tslp.chat(&request(&messages));
    let second = upstream.next().json()["messages"].clone();
    assert_eq!(second[0], first[0]);
    assert_eq!(second.as_array().expect("a list")[1..], messages[1..]);
}

/// What a client asks for its own purposes goes out byte for byte.
#[test]
fn own_requests_unchanged() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let title = format!(
        "{{ \"model\":\"m\",\n \"messages\": [{}, {}] }}",
        json!({"role": "system", "content": "You are a title generator. You output ONLY a thread title."}),
        user(&format!("Improve `ring_put`:\n```c:src/ring.c\n{RING}```")),
    );
    upstream.will_say(format!("```c:src/ring.c\n{RING}```"));
    let response = tslp.request(
        "POST",
        "/v1/chat/completions",
        &[crate::harness::JSON],
        title.as_bytes(),
    );
    assert_eq!(response.status(), 200);
    assert_eq!(upstream.next().body, title.as_bytes());
    assert_eq!(tslp.state(), json!({}));
}
