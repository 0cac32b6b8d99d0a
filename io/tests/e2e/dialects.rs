//! Every dialect goes through the ledger: a paste becomes true, what is true is shown, a tool's edit is judged, and errors are
//! written as the dialect's clients read them.

use serde_json::{Value, json};

use crate::harness::{
    JSON, Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, fenced, prompt, state_block,
};
use crate::spoken::{SPOKEN, Spoken};
use crate::upstream::{Answer, Reply, Request, Upstream};
use tslp_scripted::{Call, Response};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReplyDecoder;

fn ask(tslp: &Tslp<'_>, upstream: &Upstream, spoken: &Spoken, text: &str) -> Response {
    upstream.will_say("Fine.");
    let body = (spoken.request)(text).to_string();
    tslp.request("POST", spoken.path, &[JSON], body.as_bytes())
}

#[test]
fn paste_becomes_true() {
    for spoken in &SPOKEN {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        let paste = fenced("src/ring.c", RING);
        let response = ask(&tslp, &upstream, spoken, &paste);
        assert_eq!(response.status(), 200, "{}", spoken.path);
        assert_eq!(response.header("x-tslp-episode"), Some("e1"));
        let seen = upstream.next();
        assert!(seen.line.contains(spoken.path), "{}", seen.line);
        assert_eq!(seen.json(), (spoken.request)(&paste), "{}", spoken.path);
        assert_eq!(tslp.state()[RING_PUT]["origin"], "user", "{}", spoken.path);

        ask(&tslp, &upstream, spoken, "what does `ring_put` return?");
        let seen = upstream.next().text();
        let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
        let block = json!(block).to_string();
        let inner = &block[1..block.len() - 1];
        assert!(seen.contains(inner), "{}: {seen}", spoken.path);
        assert!(seen.contains("what does `ring_put` return?"), "{seen}");
        assert_eq!(tslp.ended(2)["outcome"], "completed", "{}", spoken.path);
    }
}

#[test]
fn pasted_tool_result() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let code = fenced("src/ring.c", RING);
    let request = json!({"model": "m", "max_tokens": 9, "tools": [{"name": "Read"}], "messages": [
        {"role": "user", "content": "look around"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s1"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": code}]},
            {"type": "text", "text": format!("<system-reminder>\n{code}\n</system-reminder>")},
            {"type": "document", "text": code}]},
    ]});
    let body = request.to_string();
    tslp.request("POST", "/v1/messages", &[JSON], body.as_bytes());
    assert_eq!(upstream.next().text(), body);
    assert_eq!(tslp.state().get(RING_PUT), None);
}

/// An edit by a streamed tool call is judged, and the session goes on.
#[test]
fn streamed_edit() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let (old, new) = ("    return 0;\n", "    r->count += 1;\n    return 0;\n");
    let input = json!({"file_path": "src/ring.c", "old_string": old, "new_string": new});
    let mut messages = vec![
        json!({"role": "user", "content": "make src/ring.c count"}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "src/ring.c"}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": RING}]}),
    ];
    let edit = Call {
        id: Some("t2".into()),
        ..Call::new("Edit", input.clone())
    };
    upstream.will(Reply::text("I do.").calling([edit]).in_pieces(16));
    let request = |messages: &[Value]| {
        json!({"model": "m", "stream": true, "max_tokens": 9, "tools": [{"name": "Edit"}], "messages": messages}).to_string()
    };
    let ask = |messages: &[Value]| {
        tslp.request(
            "POST",
            "/v1/messages?beta=true",
            &[JSON],
            request(messages).as_bytes(),
        )
    };
    assert!(ask(&messages).whole);
    assert!(upstream.next().line.contains("/v1/messages?beta=true"));
    places.write("src/ring.c", &RING.replace(old, new));
    messages.push(json!({"role": "assistant", "content": [
        {"type": "text", "text": "I do."},
        {"type": "tool_use", "id": "t2", "name": "Edit", "input": input}]}));
    messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "Done."}]}));
    ask(&messages);
    let truth = &tslp.state()[RING_PUT];
    assert_eq!(
        (&truth["origin"], &truth["disk"]),
        (&json!("model"), &json!("same"))
    );
    assert_eq!(tslp.last_episode()["session_id"], 1);
}

/// A request that is no prompt is left alone.
#[test]
fn no_prompt() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let code = fenced("src/ring.c", RING);
    for (path, body) in [
        ("/v1/completions", json!({"prompt": code, "suffix": "}"})),
        ("/v1/completions", json!({"prompt": [1, 2, 3]})),
        (
            "/v1/completions",
            json!({"prompt": format!("<|im_start|>user\n{code}<|im_end|>")}),
        ),
        ("/api/generate", json!({"model": "m"})),
        ("/api/generate", json!({"prompt": code, "raw": true})),
        ("/api/chat", json!({"model": "m", "messages": []})),
        (
            "/v1/messages/count_tokens",
            json!({"messages": [{"role": "user", "content": code}]}),
        ),
        ("/api/show", json!({"model": "m"})),
    ] {
        let body = body.to_string();
        let response = tslp.request("POST", path, &[JSON], body.as_bytes());
        assert_eq!(response.status(), 200, "{path} {body}");
        assert_eq!(response.header("x-tslp-episode"), None, "{path} {body}");
        assert_eq!(upstream.next().text(), body);
    }
    assert_eq!(tslp.state().get(RING_PUT), None);
}

#[test]
fn missing_route() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for spoken in &SPOKEN {
        let body = (spoken.request)("hello").to_string();
        let unknown = format!(
            r#"{{"error":"Unexpected endpoint or method. (POST {})"}}"#,
            spoken.path
        );
        for lacking in [
            "404 page not found",
            "<html>Cannot find the model's page</html>",
            r#"{"detail":"Not Found"}"#,
            r#"{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}"#,
            &unknown,
        ] {
            upstream.will(Answer::Plain(404, "application/json", lacking.into()));
            let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
            assert!(
                response.text().contains("doesn't speak"),
                "{lacking}: {}",
                response.text()
            );
        }
        upstream.will(Answer::Plain(
            404,
            "text/plain",
            b"404 page not found".to_vec(),
        ));
        let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
        // Claude Code shows no text of a 404, and Codex asks again and again.
        let is_hidden = ["/v1/messages", "/v1/responses"].contains(&spoken.path);
        assert_eq!(response.status(), if is_hidden { 400 } else { 404 });
        let error: Value = serde_json::from_slice(&response.body).unwrap();
        let message = match spoken.path {
            "/api/chat" | "/api/generate" => &error["error"],
            _ => &error["error"]["message"],
        };
        let message = message.as_str().unwrap();
        assert!(
            message.contains(spoken.path) && message.contains("use a server"),
            "{message}"
        );
        assert_eq!(error["type"] == "error", spoken.path == "/v1/messages");

        for missing in [
            r#"{"error":"model 'm' not found"}"#,
            r#"{"error":{"message":"Previous response with id 'resp_1' not found.","code":"previous_response_not_found"}}"#,
            r#"{"type":"error","error":{"type":"not_found_error","message":"File file_abc not found"}}"#,
        ] {
            upstream.will(Answer::Plain(404, "application/json", missing.into()));
            let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
            let told = response.text().replace('\\', "");
            assert_eq!(
                response.status(),
                if is_hidden { 400 } else { 404 },
                "{told}"
            );
            let named = [
                "model 'm' not found",
                "'resp_1' not found",
                "file_abc not found",
            ];
            assert!(named.iter().any(|named| told.contains(named)), "{told}");
        }
    }
}

#[test]
fn no_content_type() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for spoken in &SPOKEN {
        upstream.will_say("yes");
        let body = (spoken.request)("hello").to_string();
        let response = tslp.request("POST", spoken.path, &[], body.as_bytes());
        assert_eq!(response.status(), 200, "{}", response.text());
    }
}

#[test]
fn server_of_each_model() {
    let (places, other, qwen) = (Places::new(), Upstream::start(), Upstream::start());
    let file = places.path("servers.toml");
    let text = format!(
        "listen = '127.0.0.1:0'\n[[upstream]]\nurl = '{}'\n[[upstream]]\nmodels = ['qwen*', 'phi4']\nurl = '{}/v1'\n",
        other.url, qwen.url
    );
    std::fs::write(&file, text).unwrap();
    let command = places.in_workspace(&["serve", "--config", file.to_str().unwrap()]);
    let tslp = Tslp::spawn(&places, command);
    for (model, server) in [
        ("qwen3:4b", &qwen),
        ("llama3", &other),
        ("PHI4", &qwen),
        ("phi4-mini", &other),
        ("qwen3:4b", &qwen),
    ] {
        server.will_say("yes");
        let mut body = prompt("hello");
        body["model"] = model.into();
        assert_eq!(tslp.chat(&body).status(), 200, "{model}");
        assert_eq!(server.next().json()["model"], model);
    }
    let embeddings = json!({"model": "qwen3:4b", "input": "x"}).to_string();
    other.will(Answer::Plain(200, "application/json", b"{}".to_vec()));
    let response = tslp.request("POST", "/v1/embeddings", &[JSON], embeddings.as_bytes());
    assert_eq!(response.status(), 200);
    assert_eq!(other.next().text(), embeddings);
    assert!(qwen.saw_nothing());
}

/// A client that names the previous response goes on with its session.
#[test]
fn previous_response() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let ask = |previous: Option<&str>, id: &str, text: &str, reply: &str| {
        let content = json!([{"type": "output_text", "text": reply}]);
        let reply = json!({"id": id, "object": "response", "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": content}]});
        let reply = reply.to_string().into_bytes();
        upstream.will(Answer::Plain(200, "application/json", reply));
        let mut body = json!({"model": "m", "input": text});
        if let Some(previous) = previous {
            body["previous_response_id"] = previous.into();
        }
        let body = body.to_string();
        let response = tslp.request("POST", "/v1/responses", &[JSON], body.as_bytes());
        assert_eq!(response.status(), 200, "{}", response.text());
        upstream.next().json()
    };
    ask(None, "resp_1", &fenced("src/ring.c", RING), "Fine.");
    let lazy = fenced(
        "src/ring.c",
        "int ring_put(struct ring *r, int value) {\n    // ... rest unchanged ...\n}\n",
    );
    ask(Some("resp_1"), "resp_2", "make `ring_put` safe", &lazy);
    let told = ask(Some("resp_2"), "resp_3", "is it done?", "No.");
    assert_eq!(told["previous_response_id"], "resp_2");
    assert!(told.to_string().contains("[STATE NOTICE]"), "{told}");
    let other = ask(Some("resp_9"), "resp_10", "is it done, really?", "No.");
    assert!(!other.to_string().contains("[STATE NOTICE]"), "{other}");
}

/// A whole conversation as an agent sends it in this dialect, tools offered.
fn conversation(path: &str, turns: &[(&str, String)]) -> Value {
    let messages: Vec<Value> = turns
        .iter()
        .map(|(role, text)| {
            let kind = match (path, *role) {
                ("/v1/messages", _) => "text",
                (_, "user") => "input_text",
                _ => "output_text",
            };
            match path {
                "/api/chat" => json!({"role": role, "content": text}),
                _ => json!({"role": role, "content": [{"type": kind, "text": text}]}),
            }
        })
        .collect();
    let schema = json!({"properties": {"file_path": {"type": "string"}}});
    let tools =
        json!([{"type": "function", "name": "Read", "input_schema": schema, "parameters": schema}]);
    match path {
        "/v1/responses" => json!({"model": "m", "tools": tools, "input": messages}),
        "/api/chat" => json!({"model": "m", "tools": tools, "stream": false, "messages": messages}),
        _ => json!({"model": "m", "tools": tools, "max_tokens": 9, "messages": messages}),
    }
}

/// A refusal is told and former code withheld in every dialect with a history.
#[test]
fn refusal_is_told() {
    let story = [
        (fenced("src/ring.c", RING), "Fine.".to_owned()),
        (
            "Make `ring_put` safe.".to_owned(),
            fenced("src/ring.c", LAZY),
        ),
        ("Is it done?".to_owned(), "No.".to_owned()),
        ("Thanks.".to_owned(), "Any time.".to_owned()),
    ];
    for spoken in &SPOKEN {
        if !matches!(spoken.path, "/v1/messages" | "/v1/responses" | "/api/chat") {
            continue;
        }
        let (places, upstream) = (Places::new(), Upstream::start());
        places.write("src/ring.c", RING);
        let tslp = Tslp::start(&places, &upstream);
        let ask = |turns: &[(&str, String)], reply: &str| {
            let body = conversation(spoken.path, turns).to_string();
            upstream.will_say(reply);
            let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
            assert_eq!(response.status(), 200, "{}", spoken.path);
            upstream.next().text()
        };
        let mut turns = Vec::new();
        let mut seen = Vec::new();
        for (words, reply) in &story {
            if seen.len() == 3 {
                // Meanwhile, in another conversation.
                places.write("src/ring.c", RING_BETTER);
                ask(&[("user", fenced("src/ring.c", RING_BETTER))], "Fine.");
            }
            turns.push(("user", words.clone()));
            seen.push(ask(&turns, reply));
            turns.push(("assistant", reply.clone()));
        }
        assert!(!seen[1].contains("[STATE NOTICE]"), "{}", seen[1]);
        assert!(seen[2].contains("[STATE NOTICE]"), "{}", seen[2]);
        let former = "Changed outside since you read it: src/ring.c::ring_put; read it again before you edit.";
        assert!(!seen[2].contains(former), "{}", seen[2]);
        assert!(seen[3].contains(former), "{}", seen[3]);
        assert_eq!(tslp.state()[RING_PUT]["origin"], "user", "{}", spoken.path);
        assert_eq!(tslp.last_episode()["session_id"], 1, "{}", spoken.path);
    }
}

const LAZY: &str = "int ring_put(struct ring *r, int value) {\n    // ... rest unchanged ...\n}\n";

/// Gate A's own refusal is nothing that the user can confirm.
const REFUSED: &str = "\n\n[tslp] src/ring.c::ring_put is not taken from this reply: it leaves out code behind a placeholder. \
    Don't save it before you have looked; asking again shows the model what is missing.";

/// What a client without tools is answered, and what the model was asked.
fn chat(
    tslp: &Tslp<'_>,
    upstream: &Upstream,
    spoken: &Spoken,
    turns: &[(&str, String)],
    reply: &str,
) -> (String, Request) {
    let mut body = conversation(spoken.path, turns);
    body.as_object_mut().expect("a request").remove("tools");
    upstream.will_say(reply);
    let body = body.to_string();
    let answer = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
    let answer = answer.json();
    let places = [
        "/content/0/text",
        "/output/0/content/0/text",
        "/message/content",
    ];
    let said = places.iter().find_map(|place| answer.pointer(place));
    let said = said.and_then(Value::as_str).expect("a text");
    (said.to_owned(), upstream.next())
}

/// A chat's user is told in every dialect, and the model never reads it.
#[test]
fn user_is_told() {
    for spoken in &SPOKEN {
        if !matches!(spoken.path, "/v1/messages" | "/v1/responses" | "/api/chat") {
            continue;
        }
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        let lazy = fenced("src/ring.c", LAZY);
        let ask =
            |turns: &[(&str, String)], reply: &str| chat(&tslp, &upstream, spoken, turns, reply);
        let paste = ("user", fenced("src/ring.c", RING));
        ask(std::slice::from_ref(&paste), "Fine.");
        let mut turns = vec![paste, ("assistant", "Fine.".into())];
        turns.push(("user", "Make `ring_put` safe.".into()));
        let (said, _) = ask(&turns, &lazy);
        assert!(said.starts_with(&[&lazy, REFUSED].concat()), "{said}");
        turns.push(("assistant", said));
        turns.push(("user", "Go on.".into()));
        let (_, seen) = ask(&turns, "Fine.");
        assert!(!seen.text().contains("[tslp]"), "{}", seen.text());
        assert_eq!(tslp.last_episode()["session_id"], 1, "{}", spoken.path);
    }
}

/// A streamed reply ends with the line unless it is off; an agent's user is told what to do with their file.
#[test]
fn line_after_stream() {
    let lazy = fenced("src/ring.c", LAZY);
    for (flags, tools, is_told) in [
        (&[][..], false, true),
        (&["--notices-in-reply", "never"], false, false),
        (&["--notices-in-reply", "chats"], true, false),
        (&[], true, true),
    ] {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::with(&places, &upstream.url, flags);
        let mut talk = Talk::new(&tslp);
        talk.ask(&fenced("src/ring.c", RING));
        let mut request = talk.request("Make `ring_put` safe.");
        if tools {
            request["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
        }
        upstream.will_say(lazy.clone());
        let said = tslp.chat(&request).said();
        match is_told {
            true if tools => assert!(
                said.starts_with(&(lazy.clone() + "\n\n[tslp] src/ring.c::ring_put lost `")),
                "{said}"
            ),
            true => assert!(said.starts_with(&[&lazy, REFUSED].concat()), "{said}"),
            false => assert_eq!(said, lazy),
        }
    }
}

/// Calls that cannot be read reach a client whose calls are not held.
#[test]
fn unreadable_calls() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--notices-in-reply", "always"]);
    let mut request = Talk::new(&tslp).request("Look at a.c.");
    request["stream"] = json!(false);
    request["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    let calls = json!([{"id": "c1", "type": "function", "function": "look"}]);
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let body =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let reply = body.to_string().into_bytes();
    upstream.will(Answer::Plain(200, "application/json", reply));
    let said = tslp.chat(&request);
    assert_eq!(said.json(), body);
}

/// A chat's user is told that the model was not shown their file.
#[test]
fn file_not_shown() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    talk.ask(&fenced("src/ring.c", RING));
    places.write("src/ring.c", &RING.replace("return 0", "return 1"));
    upstream.will_say("It returns 7.");
    let said = talk.ask("What does `ring_put` return?").said();
    assert_eq!(
        said,
        "It returns 7.\n\n[tslp] src/ring.c::ring_put is STALE: your file holds code that the model was not shown. `@tslp accept src/ring.c::ring_put` takes what the file holds.\n"
    );
}

/// A chat's user is told what their file has and the reply lacks.
#[test]
fn what_the_reply_lacks() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    talk.ask(&fenced("src/ring.c", RING));
    talk.ask("What is it for?");
    places.write("src/ring.c", &RING.replace("return 0", "return 1"));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    let said = talk.ask("Make `ring_put` safe.").said();
    let (_, line) = said.split_once("[tslp] ").expect("a line");
    assert!(
        line.starts_with(
            "src/ring.c::ring_put: your file has `return 1;`, and the reply doesn't. It is not taken from this reply"
        ),
        "{line}"
    );
    let sent = [upstream.next(), upstream.next(), upstream.next()];
    assert!(!sent[2].text().contains("r->slots"), "{}", sent[2].text());
}

/// A small model answers in the form of what it is shown.
#[test]
fn repeated_block() {
    for spoken in &SPOKEN {
        if !matches!(spoken.path, "/v1/messages" | "/v1/responses" | "/api/chat") {
            continue;
        }
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        let ask =
            |turns: &[(&str, String)], reply: &str| chat(&tslp, &upstream, spoken, turns, reply);
        ask(&[("user", fenced("src/ring.c", RING))], "Fine.");
        let repeated = format!(
            "{}\nIt is safe now.",
            state_block(RING_PUT, "0123456789ab", RING_BETTER)
        );
        let mut turns = vec![("user", "Make `ring_put` safe.".to_owned())];
        let (said, _) = ask(&turns, &repeated);
        let expected = format!("**{RING_PUT}**\n\n```c\n{RING_BETTER}```\nIt is safe now.");
        assert_eq!(said, expected, "{}", spoken.path);
        turns.push(("assistant", said));
        turns.push(("user", "Go on.".into()));
        ask(&turns, "Fine.");
        assert_eq!(tslp.state()[RING_PUT]["origin"], "model", "{}", spoken.path);
        assert_eq!(tslp.last_episode()["session_id"], 2, "{}", spoken.path);
    }
}

/// A stream's user is told that the model repeated a block.
#[test]
fn streamed_repeated_block() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    Talk::new(&tslp).ask(&fenced("src/ring.c", RING));
    let repeated = state_block(RING_PUT, "0123456789ab", RING_BETTER);
    upstream.will_say(repeated.clone());
    let mut talk = Talk::new(&tslp);
    let said = talk.ask("Make `ring_put` safe.").said();
    assert!(said.starts_with(&repeated), "{said}");
    assert!(
        said.ends_with("tslp's own words, which the model repeated.\n"),
        "{said}"
    );
    talk.ask("Go on.");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    assert_eq!(tslp.last_episode()["session_id"], 2);
}

/// Only parts that are marked as the user's are the user's.
#[test]
fn parts_of_users() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let code = fenced("src/ring.c", RING);
    let others = [
        json!({"type": "output_text", "text": code}),
        json!({"text": code}),
        json!({"type": null, "text": code}),
        json!({"type": "text", "text": format!("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\n{code}</INSTRUCTIONS>")}),
        json!({"type": "text", "text": format!("<skill>\n{code}</skill>")}),
    ];
    for (number, part) in others.into_iter().enumerate() {
        let hello = json!({"type": "text", "text": format!("hello {number}")});
        let content = json!([hello, part]);
        for (path, field) in [("/v1/messages", "messages"), ("/v1/responses", "input")] {
            let body = json!({"model": "m", "max_tokens": 9, field: [{"role": "user", "content": content}]});
            let response = tslp.request("POST", path, &[JSON], body.to_string().as_bytes());
            assert_eq!(response.status(), 200, "{}", response.text());
        }
    }
    assert_eq!(tslp.state().get(RING_PUT), None);
}

/// A refused proposal that another conversation hands back stays refused.
#[test]
fn handed_back_proposal() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let gutted = fenced(
        "src/ring.c",
        "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n",
    );
    let mut parent = Talk::new(&tslp);
    upstream.will_say("I will delegate.");
    parent.ask("Task: tidy src/ring.c.");
    let mut subtask = Talk::new(&tslp);
    upstream.will_say(gutted.as_str());
    subtask.ask("Subtask: shorten `ring_put` of src/ring.c.");
    let state = tslp.state();
    for result in [
        gutted.clone(),
        format!("[new_task completed] Result:\n{gutted}"),
    ] {
        upstream.will_say("Fine.");
        subtask.ask(&result);
        upstream.will_say("Fine.");
        parent.ask(&result);
        assert_eq!(tslp.state(), state);
    }
}

/// Who is not let in is told so in the client's own shape.
#[test]
fn shape_of_denial() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--token", "correct-horse-battery-staple"],
    );
    for spoken in &SPOKEN {
        let body = (spoken.request)("hello").to_string();
        let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
        let is_hidden = ["/v1/messages", "/v1/responses"].contains(&spoken.path);
        assert_eq!(response.status(), if is_hidden { 400 } else { 401 });
        let error: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(error["type"] == "error", spoken.path == "/v1/messages");
        assert_eq!(error["error"].is_string(), spoken.path.starts_with("/api/"));
    }
}

/// The request of a client without tools of its own.
fn without_tools(mut request: Value) -> Value {
    let fields = request.as_object_mut().expect("a request is an object");
    fields.remove("tools");
    request
}

const ASKS: &str =
    "I look.\n```tool\n{\"type\":\"shell\",\"command\":\"grep -n ring_put src/ring.c\"}\n```\n";

#[test]
fn tool_fence_runs() {
    for spoken in &SPOKEN {
        let (places, upstream) = (Places::new(), Upstream::start());
        places.write("src/ring.c", RING);
        let tslp = Tslp::start(&places, &upstream);
        for text in [ASKS, "It is in line 1."] {
            upstream.will_say(text);
        }
        let body = without_tools((spoken.request)("Where is it?")).to_string();
        let response = tslp.request("POST", spoken.path, &[JSON], body.as_bytes());
        let read: Value = serde_json::from_slice(&response.body).unwrap();
        let said = read.to_string();
        let result = "```tool-result call_1_1\\n1:int ring_put(";
        assert!(said.contains(result), "{}: {said}", spoken.path);
        assert!(said.contains("READ]\\n```\\nIt is in line 1."), "{said}");
        // All of it is the same text.
        let mut decoder = ReplyDecoder::new(Dialect::of_path(spoken.path).unwrap());
        let text = decoder.push(&response.body).text + &decoder.end_message().text;
        assert!(
            text.starts_with(ASKS) && text.ends_with("line 1."),
            "{text}"
        );
        let (first, second) = (upstream.next().text(), upstream.next().text());
        assert_eq!(first, body, "{}", spoken.path);
        assert!(second.contains("1:int ring_put("), "{second}");
        assert!(second.contains("NOT FROM THE USER"), "{second}");
        assert_eq!(tslp.ended(1)["outcome"], "completed", "{}", spoken.path);
    }
}

/// A streamed message goes on in its block with what a tool returned.
#[test]
fn stream_after_tool() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    for text in [ASKS, "It is in line 1."] {
        upstream.will(Reply::text(text).costing(5, 4));
    }
    let request = json!({"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Where is it?"}]});
    let body = request.to_string();
    let response = tslp.request("POST", "/v1/messages", &[JSON], body.as_bytes());
    let stream = String::from_utf8(response.body).unwrap();
    let data = stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data: Vec<Value> = data.map(|it| serde_json::from_str(it).unwrap()).collect();
    let count = |kind: &str| data.iter().filter(|it| it["type"] == kind).count();
    for kind in [
        "message_start",
        "content_block_start",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ] {
        assert_eq!(count(kind), 1, "{kind}: {stream}");
    }
    let said: String = data
        .iter()
        .filter_map(|it| it["delta"]["text"].as_str())
        .collect();
    assert!(said.starts_with(ASKS), "{said}");
    assert!(
        said.contains("```tool-result call_1_1\n1:int ring_put("),
        "{said}"
    );
    assert!(said.ends_with("It is in line 1."), "{said}");
    let last = data.iter().find(|it| it["type"] == "message_delta");
    assert_eq!(last.unwrap()["usage"]["output_tokens"], 8);
}
