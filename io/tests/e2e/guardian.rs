//! The Guardian where clients act with tools of their own: calls that are kept back, stops, and the hook, in each dialect.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{JSON, Places, Tslp, eventually};
use crate::upstream::{Answer, Step, Upstream, barrier};
use tslp_scripted::Connection;

/// A dialect: its route, a streaming request of a client with tools, and what its streams are made of.
struct Spoken {
    path: &'static str,
    request: fn() -> Value,
    begin: fn() -> String,
    text: fn(&str) -> String,
    /// Calls of a shell by their command lines, and the reply's end.
    calls: fn(&[&str]) -> String,
    /// How many events or lines of them there are up to the first call's end.
    first_call: usize,
    /// What a reply ends with that is stopped.
    ends: &'static str,
}

fn named(event: &Value) -> String {
    format!(
        "event: {}\ndata: {event}\n\n",
        event["type"].as_str().unwrap()
    )
}

fn arguments(line: &str) -> String {
    json!({ "command": line }).to_string()
}

const SPOKEN: [Spoken; 4] = [
    Spoken {
        path: "/v1/chat/completions",
        request: || {
            json!({"model": "m", "stream": true, "tools": [{"type": "function", "function": {"name": "bash"}}],
                "messages": [{"role": "user", "content": "Tidy up."}]})
        },
        begin: String::new,
        text: |text| {
            let piece = json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]});
            format!("data: {piece}\n\n")
        },
        calls: |lines| {
            let mut out = String::new();
            for (at, line) in lines.iter().enumerate() {
                let function = json!({"name": "bash", "arguments": arguments(line)});
                let call = json!({"index": at, "id": format!("call_{at}"), "type": "function", "function": function});
                let piece =
                    json!({"id": "c1", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
                out.push_str(&format!("data: {piece}\n\n"));
            }
            let last = json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
            out + &format!("data: {last}\n\ndata: [DONE]\n\n")
        },
        first_call: 1,
        ends: "data: [DONE]",
    },
    Spoken {
        path: "/v1/messages",
        request: || {
            json!({"model": "m", "max_tokens": 99, "stream": true, "tools": [{"name": "Bash", "input_schema": {}}],
                "messages": [{"role": "user", "content": "Tidy up."}]})
        },
        begin: || {
            let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": {}});
            named(&json!({"type": "message_start", "message": message}))
                + &named(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                )
        },
        text: |text| {
            named(
                &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            )
        },
        calls: |lines| {
            let mut out = named(&json!({"type": "content_block_stop", "index": 0}));
            for (at, line) in (1..).zip(lines) {
                let block = json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": "Bash", "input": {}});
                let delta = json!({"type": "input_json_delta", "partial_json": arguments(line)});
                out += &named(
                    &json!({"type": "content_block_start", "index": at, "content_block": block}),
                );
                out += &named(&json!({"type": "content_block_delta", "index": at, "delta": delta}));
                out += &named(&json!({"type": "content_block_stop", "index": at}));
            }
            out + &named(
                &json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
            ) + &named(&json!({"type": "message_stop"}))
        },
        first_call: 4,
        ends: "event: message_stop",
    },
    Spoken {
        path: "/v1/responses",
        request: || {
            json!({"model": "m", "stream": true, "tools": [{"type": "function", "name": "shell"}],
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tidy up."}]}]})
        },
        begin: || {
            let item = json!({"type": "message", "role": "assistant", "content": []});
            named(&json!({"type": "response.created", "response": {"id": "resp_1"}}))
                + &named(
                    &json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                )
        },
        text: |text| {
            named(
                &json!({"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": text}),
            )
        },
        calls: |lines| {
            let text = json!({"type": "output_text", "text": "I tidy up."});
            let message = json!({"type": "message", "role": "assistant", "content": [text]});
            let mut out = named(
                &json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
            );
            let mut output = vec![message];
            for (at, line) in (1..).zip(lines) {
                let item = json!({"type": "function_call", "call_id": format!("call_{at}"), "name": "shell", "arguments": arguments(line)});
                out += &named(
                    &json!({"type": "response.output_item.added", "output_index": at, "item": {"type": "function_call", "name": "shell"}}),
                );
                out += &named(
                    &json!({"type": "response.output_item.done", "output_index": at, "item": item}),
                );
                output.push(item);
            }
            let response = json!({"id": "resp_1", "status": "completed", "output": output});
            out + &named(&json!({"type": "response.completed", "response": response}))
        },
        first_call: 3,
        ends: "event: response.completed",
    },
    Spoken {
        path: "/api/chat",
        request: || {
            json!({"model": "m", "stream": true, "tools": [{"type": "function", "function": {"name": "bash"}}],
                "messages": [{"role": "user", "content": "Tidy up."}]})
        },
        begin: String::new,
        text: |text| {
            json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false})
                .to_string()
                + "\n"
        },
        calls: |lines| {
            let call =
                |line: &&str| json!({"function": {"name": "bash", "arguments": {"command": line}}});
            let calls: Vec<Value> = lines.iter().map(call).collect();
            let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
            let line = json!({"model": "m", "message": message, "done": false});
            let last = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"});
            format!("{line}\n{last}\n")
        },
        first_call: 1,
        ends: "\"done\":true",
    },
];

impl Spoken {
    fn media(&self) -> &'static str {
        match self.path {
            "/api/chat" => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    fn ask(&self, tslp: &Tslp) -> Connection {
        let mut client = tslp.client();
        let body = (self.request)().to_string();
        client.send("POST", self.path, &[JSON], body.as_bytes());
        client
    }
}

/// law 8.5 | A denied call of the client's own tools never reaches it
#[test]
fn denied_call_alone() {
    let strict = ["--guardian-client-tools", "strict"];
    for (is_strict, settings) in [(false, &[][..]), (true, &strict)] {
        denied_alone(settings, is_strict);
    }
}

fn denied_alone(settings: &[&str], is_strict: bool) {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(&places, &upstream.url, settings);
    for spoken in &SPOKEN {
        let reply = |lines: &[&str]| {
            (spoken.begin)() + &(spoken.text)("I tidy up.") + &(spoken.calls)(lines)
        };
        let answer = |lines: &[&str]| {
            let body = reply(lines).into_bytes();
            upstream.will(Answer::Plain(200, spoken.media(), body));
            spoken.ask(&tslp).response().text()
        };
        // Siblings go on, and so does the order.
        let read = answer(&["rm -rf ~", "ls src"]);
        assert!(
            read.contains("The Guardian kept back"),
            "{}: {read}",
            spoken.path
        );
        assert!(read.contains("ls src"), "{}: {read}", spoken.path);
        assert!(read.contains("I tidy up."), "{}: {read}", spoken.path);
        assert!(
            !read.contains("\"command\":\"rm"),
            "{}: {read}",
            spoken.path
        );
        assert!(!read.contains("\\\"rm -rf"), "{}: {read}", spoken.path);
        let read = answer(&["rm -rf ~"]);
        for gone in ["tool_calls", "tool_use", "function_call"] {
            assert!(!read.contains(gone), "{}: {read}", spoken.path);
        }
        assert!(read.contains(spoken.ends), "{}: {read}", spoken.path);
        // What passes comes byte for byte.
        assert_eq!(answer(&["ls src"]), reply(&["ls src"]), "{}", spoken.path);
        for never in [
            "git push --force origin main",
            "echo x >> ~/.bashrc",
            "rm -rf .",
        ] {
            let read = answer(&[never]);
            assert!(read.contains("The Guardian kept back"), "{never}: {read}");
        }
        // What is merely outside is kept back by choice.
        for outside in ["cp a /opt/b", "cat .env"] {
            let passes = answer(&[outside]) == reply(&[outside]);
            assert_eq!(passes, !is_strict, "{}: {outside}", spoken.path);
        }
    }
    tslp.stop();
    places.verify_deep();
}

/// The test lets the model server go on only after it has seen what the client got.
#[test]
fn complete_call_let_go() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--guardian-client-tools", "strict"],
    );
    for spoken in &SPOKEN {
        for (line, expected) in [("ls src", "ls src"), ("rm -rf ~", "The Guardian kept back")] {
            let calls = (spoken.calls)(&[line]);
            let parted_by = if spoken.path == "/api/chat" {
                "\n"
            } else {
                "\n\n"
            };
            let ends = calls
                .match_indices(parted_by)
                .map(|(at, mark)| at + mark.len());
            let first = ends.clone().nth(spoken.first_call - 1).unwrap();
            assert!(ends.count() > spoken.first_call, "more follows");
            let begun = (spoken.begin)() + &(spoken.text)("I look.") + &calls[..first];
            let (open, wait) = barrier();
            let rest = Step::Chunk(calls[first..].to_owned());
            upstream.will(Answer::Steps(vec![Step::Chunk(begun.clone()), wait, rest]));
            let mut client = spoken.ask(&tslp);
            client.until(expected);
            open.send(()).unwrap();
            let read = client.response().text();
            assert!(read.contains(spoken.ends), "{}: {read}", spoken.path);
            match line == expected {
                true => assert_eq!(read, begun + &calls[first..], "{}", spoken.path),
                false => assert!(!read.contains("rm -rf ~\\\""), "{}: {read}", spoken.path),
            }
        }
    }
    tslp.stop();
}

/// law 8.5 | `tslp stop` ends every reply, and requests are refused until it is lifted | agents_stopped
#[test]
fn stop_until_lifted() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    for spoken in &SPOKEN {
        let (_open, wait) = barrier();
        let begun = (spoken.begin)() + &(spoken.text)("I begin.");
        let steps = vec![Step::Chunk(begun), wait];
        upstream.will(Answer::Steps(steps));
        let mut client = spoken.ask(&tslp);
        client.until("I begin.");
        let (code, stopped) = places.cli_json(&["stop"]);
        assert_eq!(
            (code, &stopped["targets"][0]["outcome"]),
            (0, &json!("agents_stopped"))
        );
        let response = client.response();
        let read = response.text();
        assert!(response.whole, "{}: {read}", spoken.path);
        assert!(
            read.contains("Stopped by the user"),
            "{}: {read}",
            spoken.path
        );
        assert!(read.contains(spoken.ends), "{}: {read}", spoken.path);
        let refused = spoken.ask(&tslp).response();
        assert_eq!(refused.status(), 400);
        let error = refused.json();
        let code = error["code"].as_str().or(error["error"]["code"].as_str());
        assert_eq!(code, Some("agents_stopped"), "{error}");
        let (code, _) = places.cli_json(&["resume"]);
        assert_eq!(code, 0);
    }
    places.cli_json(&["stop"]);
    tslp.stop();
    let tslp = Tslp::start(&places, &upstream);
    eventually(|| (SPOKEN[0].ask(&tslp).response().status() == 400).then_some(()));
    let doctor = tslp.page("/doctor").to_string();
    assert!(doctor.contains("stopped by the user"), "{doctor}");
    places.cli_json(&["resume"]);
    let body = ((SPOKEN[0].text)("Yes.") + &(SPOKEN[0].calls)(&["ls"])).into_bytes();
    upstream.will(Answer::Plain(200, "text/event-stream", body));
    assert_eq!(SPOKEN[0].ask(&tslp).response().status(), 200);
    tslp.stop();
}

/// A client's hook is answered by the same rules.
#[test]
fn same_rules_for_hooks() {
    let places = Places::new();
    let check = |question: &str, expected: &str| {
        let mut command = places.in_workspace(&["hook"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(question.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let decision = answer["hookSpecificOutput"]["permissionDecision"].as_str();
        assert_eq!(decision.unwrap_or("none"), expected, "{question}: {answer}");
    };
    let bash = |line: &str| {
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}}).to_string()
    };
    check(&bash("cargo test 2>&1 | tail"), "none");
    check(&bash("rm -rf ~"), "deny");
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": ".git/hooks/pre-commit", "content": "x"}});
    check(&write.to_string(), "deny");
    check("no JSON", "ask");
    check("{}", "ask");
}

/// law 8.5 | Where a tool can't be run, the reply's reader and the model are told | tool_not_run
#[test]
fn unrun_fence() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(&places, &upstream.url, &["--tools-run", "off"]);
    let call = json!({"type": "shell", "command": "ls"});
    let fence = format!("I look.\n```tool\n{call}\n```\n");
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": fence}],
        "type": "message", "stop_reason": "end_turn"});
    let mut messages = vec![json!({"role": "user", "content": "Look."})];
    let ask = |messages: &[Value]| {
        upstream.will(Answer::Plain(
            200,
            "application/json",
            message.to_string().into_bytes(),
        ));
        let request = json!({"model": "m", "max_tokens": 9, "messages": messages});
        let mut client = tslp.client();
        client.send(
            "POST",
            "/v1/messages",
            &[JSON],
            request.to_string().as_bytes(),
        );
        let said = client.response().json();
        (
            said["content"][0]["text"].as_str().unwrap().to_owned(),
            upstream.next().text(),
        )
    };
    let (said, _) = ask(&messages);
    assert!(
        said.contains("[tslp] The model asks for a tool, and nothing was run"),
        "{said}"
    );
    messages.push(json!({"role": "assistant", "content": said}));
    messages.push(json!({"role": "user", "content": "And?"}));
    let (_, prompt) = ask(&messages);
    assert!(
        prompt.contains("nothing was run: such fences run only"),
        "{prompt}"
    );
    tslp.stop();
}
