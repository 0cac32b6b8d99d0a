//! What a model almost did: edits that don't match are answered with the truth.

use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;

use crate::budgets::Agent;
use crate::harness::{
    CHAT, JSON, Places, RING, RING_BETTER, Talk, Tslp, eventually, failure, fenced, user,
};
use crate::lost_calls::{forms, read};
use crate::sandbox::snapshot;
use crate::tool_loop::{events as recorded, of_kind};
use crate::upstream::{Answer, Step, Upstream, closing, event, saying};
use tslp_scripted::Response;

const FILE: &str = "int add(int a, int b)\n{\n    return a + b;\n}\n\nint sub(int a, int b)\n{\n    return a - b;\n}\n";

/// Prompts of an agent whose edit's old text isn't in the file, in the words of its client.
fn prompts_after_failure(path: &'static str, remark: &str, settings: &[&str]) -> [String; 2] {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, settings);
    let mut agent = Agent::new(&tslp, &upstream, path, "Let sub in src/a.c saturate.");
    agent.call("read", &json!({"file_path": "src/a.c"}), FILE);
    let edit = json!({
        "file_path": "src/a.c",
        "old_string": "int sub(int a, int b) {\n    return b - a;\n}",
        "new_string": "int sub(int a, int b) {\n    return 0;\n}",
    });
    agent.call("edit", &edit, remark);
    let read = json!({"file_path": "src/a.c"});
    let prompts = [
        agent.call("read", &read, FILE),
        agent.call("read", &read, FILE),
    ];
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
    prompts
}

fn messages_of(prompt: &str) -> Vec<Value> {
    let prompt: Value = serde_json::from_str(prompt).unwrap();
    prompt["messages"].as_array().unwrap().clone()
}

/// An edit that does not match is answered with the lines that it must have meant.
#[test]
fn lines_meant() {
    let remarks = [
        "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.",
        "<tool_use_error>String to replace not found in file.\nString: int sub</tool_use_error>",
        "Failed to edit, 0 occurrences found for old_string in src/a.c. No edits made.",
        "No replacement performed: text not found in src/a.c.",
        "Edit at index 0: string not found in file: int sub",
    ];
    for path in ["/v1/chat/completions", "/v1/messages"] {
        for remark in remarks {
            let [after, later] = prompts_after_failure(path, remark, &[]);
            let said = "The last edit of src/a.c was not applied: the text that it replaces is in no version of the file that is known.\\nsrc/a.c:6-9 read:\\nint sub(int a, int b)\\n{\\n    return a - b;\\n}\\n";
            assert_eq!(after.matches(said).count(), 1, "{path} {remark}: {after}");
            assert_eq!(later.matches(said).count(), 1, "{later}");
            assert!(
                messages_of(&later).starts_with(&messages_of(&after)),
                "{later}"
            );
        }
    }
}

/// An edit from memory is answered with the definition that it names.
#[test]
fn edit_from_memory() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::start(&places, &upstream);
    let chat = "/v1/chat/completions";
    let mut agent = Agent::new(&tslp, &upstream, chat, "Let sub in src/a.c saturate.");
    // Nobody has read the file.
    let edit = edit_of(
        "static long sub(struct number *left, long from, unsigned flags) {",
        "",
    );
    agent.call("edit", &edit, "String to replace not found in file.");
    let after = agent.call("read", &json!({"file_path": "src/a.c"}), FILE);
    let said = "in no version of the file that is known.\\nsrc/a.c:6-9 read:\\nint sub(int a, int b)\\n{\\n    return a - b;\\n}\\n";
    assert_eq!(after.matches(said).count(), 1, "{after}");
}

/// Results without the text stay as they are, and so do all if repair is off.
#[test]
fn untouched_results() {
    let untouched = |remark: &str, settings: &[&str]| {
        let [after, _] = prompts_after_failure("/v1/chat/completions", remark, settings);
        let last = messages_of(&after).pop().unwrap();
        assert_eq!(last["content"], remark, "{after}");
    };
    untouched("Permission denied.", &[]);
    untouched("String to replace not found in file.", &["--repair", "off"]);
}

fn edit_of(old: &str, new: &str) -> Value {
    json!({"file_path": "src/a.c", "old_string": old, "new_string": new})
}

fn named(event: &Value) -> String {
    format!(
        "event: {}\ndata: {event}\n\n",
        event["type"].as_str().unwrap()
    )
}

/// The tool that takes such arguments.
fn tool_of(arguments: &Value) -> &'static str {
    match (&arguments["content"], &arguments["command"]) {
        (Value::String(_), _) => "write",
        (_, Value::String(_)) => "bash",
        _ => "edit",
    }
}

/// A reply with calls; in a stream their arguments come in two pieces where a dialect has pieces.
fn reply_with_calls(dialect: Dialect, streams: bool, calls: &[Value]) -> (&'static str, String) {
    let at = |text: &str| (1..).find(|at| text.is_char_boundary(*at)).unwrap();
    let numbered = || calls.iter().enumerate();
    let items: Vec<Value> = match dialect {
        Dialect::Messages => {
            let calls = calls.iter().enumerate();
            calls.map(|(at, input)| json!({"type": "tool_use", "id": format!("t{at}"), "name": tool_of(input), "input": input})).collect()
        }
        Dialect::Responses => numbered()
            .map(|(at, arguments)| json!({"type": "function_call", "id": format!("f{at}"), "call_id": format!("t{at}"), "name": tool_of(arguments), "arguments": arguments.to_string()}))
            .collect(),
        Dialect::OllamaChat => calls.iter().map(|arguments| json!({"function": {"name": tool_of(arguments), "arguments": arguments}})).collect(),
        _ => numbered()
            .map(|(at, arguments)| json!({"index": at, "id": format!("t{at}"), "type": "function", "function": {"name": tool_of(arguments), "arguments": arguments.to_string()}}))
            .collect(),
    };
    let mut out = String::new();
    match (dialect, streams) {
        (Dialect::Messages, false) => out = json!({"type": "message", "role": "assistant", "content": items, "stop_reason": "tool_use"}).to_string(),
        (Dialect::Messages, true) => {
            out += &named(&json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}));
            for (index, item) in items.iter().enumerate() {
                let mut block = item.clone();
                let input = std::mem::replace(&mut block["input"], json!({})).to_string();
                out += &named(&json!({"type": "content_block_start", "index": index, "content_block": block}));
                let (one, two) = input.split_at(at(&input));
                for part in ["", one, two] {
                    out += &named(&json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": part}}));
                }
                out += &named(&json!({"type": "content_block_stop", "index": index}));
            }
            out += &named(&json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            out += &named(&json!({"type": "message_stop"}));
        }
        (Dialect::Responses, _) => {
            let response = json!({"id": "r", "object": "response", "status": "completed", "output": items});
            if !streams {
                return ("application/json", response.to_string());
            }
            out += &named(&json!({"type": "response.created", "response": {"id": "r"}}));
            for (index, item) in items.iter().enumerate() {
                let mut begun = item.clone();
                let arguments = std::mem::replace(&mut begun["arguments"], "".into());
                let (one, two) = arguments.as_str().unwrap().split_at(1);
                out += &named(&json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
                for part in [one, two] {
                    out += &named(&json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": item["id"], "delta": part}));
                }
                out += &named(&json!({"type": "response.function_call_arguments.done", "output_index": index, "item_id": item["id"], "arguments": arguments}));
                out += &named(&json!({"type": "response.output_item.done", "output_index": index, "item": item}));
            }
            out += &named(&json!({"type": "response.completed", "response": response}));
        }
        (Dialect::OllamaChat, _) => {
            let message = json!({"role": "assistant", "content": "", "tool_calls": items});
            let last = json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"});
            if streams {
                let line = json!({"model": "m", "message": message, "done": false});
                return ("application/x-ndjson", format!("{line}\n{last}\n"));
            }
            out = json!({"model": "m", "message": message, "done": true, "done_reason": "stop"}).to_string();
        }
        (_, false) => {
            let message = json!({"role": "assistant", "content": null, "tool_calls": items});
            out = json!({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string();
        }
        (_, true) => {
            let piece = |delta: Value, reason: Value| {
                let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
                format!("data: {}\n\n", json!({"id": "c", "choices": [choice]}))
            };
            for item in &items {
                let arguments = item["function"]["arguments"].as_str().unwrap();
                let (one, two) = arguments.split_at(1);
                let mut begun = item.clone();
                begun["function"]["arguments"] = one.into();
                out += &piece(json!({"tool_calls": [begun]}), Value::Null);
                let more = json!({"index": item["index"], "function": {"arguments": two}});
                out += &piece(json!({"tool_calls": [more]}), Value::Null);
            }
            out += &piece(json!({}), "tool_calls".into());
            out += "data: [DONE]\n\n";
        }
    }
    (
        if streams {
            "text/event-stream"
        } else {
            "application/json"
        },
        out,
    )
}

/// The list of a dialect's request.
const fn list_of(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "input",
        _ => "messages",
    }
}

/// An agent's request, whose user has pasted the file.
fn request_of((dialect, streams): (Dialect, bool), words: &str) -> Value {
    let tools = ["edit", "write", "bash"].map(|name| match dialect {
        Dialect::Messages => json!({"name": name, "input_schema": {}}),
        Dialect::Responses => json!({"type": "function", "name": name}),
        _ => json!({"type": "function", "function": {"name": name}}),
    });
    let said = format!("{}{words}", fenced("src/a.c", FILE));
    json!({
        "model": "m", "max_tokens": 99, "stream": streams, "tools": tools, "temperature": 0.8,
        list_of(dialect): [user(&said)],
    })
}

/// What the client gets of calls, and what the record says of them, where the user has pasted the file.
fn calls_through(
    settings: &[&str],
    form: (Dialect, bool),
    calls: &[Value],
) -> (Response, Value, String) {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, settings);
    let (media, sent) = reply_with_calls(form.0, form.1, calls);
    upstream.will(Answer::Plain(200, media, sent.clone().into_bytes()));
    let request = request_of(form, "Turn it around.");
    let response = tslp.request(
        "POST",
        form.0.route_path(),
        &[JSON],
        request.to_string().as_bytes(),
    );
    let recent = tslp.ended(response.episode());
    tslp.stop();
    places.verify_deep();
    (response, recent, sent)
}

const TELL: [&str; 2] = ["--repair", "tell"];

/// law engine 8 | An edit whose old text isn't in its file is made to fit before the client has it, by setting and where one place alone can be meant; that is told | edit_fitted
#[test]
fn exact_text_given() {
    let exact = edit_of("    return a + b;", "    return b + a;");
    let near = edit_of(
        "int sub(int a,int b)\n{\n  return a-b;\n}",
        "int sub(int a,int b)\n{\n  return b-a;\n}",
    );
    let fitted = edit_of(
        "int sub(int a, int b)\n{\n    return a - b;\n}",
        "int sub(int a, int b)\n{\n    return b-a;\n}",
    );
    for form in forms() {
        let (response, recent, _) = calls_through(&[], form, &[exact.clone(), near.clone()]);
        let got = read(form.0, &response).calls;
        let got: Vec<Value> = got
            .iter()
            .map(|(_, it)| serde_json::from_str(it).unwrap())
            .collect();
        assert_eq!(
            got,
            [exact.clone(), fitted.clone()],
            "{form:?}: {}",
            response.text()
        );
        assert!(
            !response.text().contains("a-b"),
            "{form:?}: {}",
            response.text()
        );
        let said = &recent["lost_calls"][0];
        assert_eq!(said["outcome"], "fitted", "{form:?}: {recent}");
        assert_eq!(said["flaw"], "the text that it replaces isn't in src/a.c");
        for settings in [
            &TELL[..],
            &[TELL[0], TELL[1], "--guardian-client-tools", "strict"],
        ] {
            let (response, recent, sent) =
                calls_through(settings, form, &[exact.clone(), near.clone()]);
            assert_eq!(response.text(), sent, "{form:?}");
            assert_eq!(recent["lost_calls"], json!([]), "{form:?}");
        }
    }
}

/// An edit that may mean two places or none stays as the model wrote it.
#[test]
fn ambiguous_edit() {
    let near = edit_of(
        "int sub(int a,int b)\n{\n  return a-b;\n}",
        "int sub(int a,int b)\n{\n  return b-a;\n}",
    );
    let one = (Dialect::ChatCompletions, true);
    for calls in [
        // In both functions.
        vec![edit_of("{ ", "{ log();")],
        // Other lines.
        vec![edit_of("int sub(int a,int b) {\n  return a-b;\n}", "")],
        vec![edit_of(
            "int mul(int a,int b) {\n}",
            "int mul(int a,int b);",
        )],
        // One of two texts can't be made to fit.
        vec![json!({"file_path": "src/a.c", "edits": [near, edit_of("int div", "")]})],
    ] {
        let (response, _, sent) = calls_through(&[], one, &calls);
        assert_eq!(response.text(), sent);
    }
}

/// law engine 8 | An edit whose old text isn't in its file is made to fit before the client has it, by setting and where one place alone can be meant; that is told | edit_fitted
#[test]
fn former_text_edited() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, &[]);
    let path = "/v1/chat/completions";
    let mut agent = Agent::new(&tslp, &upstream, path, "Let sub in src/a.c saturate.");
    let read = json!({"file_path": "src/a.c"});
    agent.call("read", &read, FILE);
    let renamed = FILE.replace("int sub(int a", "long sub(int a");
    agent.call(
        "edit",
        &edit_of("int sub(int a, int b)\n", "long sub(int a, int b)\n"),
        "Done.",
    );
    places.write("src/a.c", &renamed);
    let old = "int sub(int a, int b)\n{\n    return a - b;\n}";
    agent.call(
        "edit",
        &edit_of(old, &old.replace("a - b", "b - a")),
        "Done.",
    );
    places.write("src/a.c", &renamed.replace("a - b", "b - a"));
    let told = agent.call("read", &read, FILE);
    assert!(
        told.contains("The edit was made with the file's own text"),
        "{told}"
    );
    let recent = tslp.get("/recent").json();
    assert!(recent.to_string().contains("\"fitted\""), "{recent}");
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
}

/// A change of `add` that loses `sub`, and one that keeps it.
fn lossy() -> Value {
    json!({"file_path": "src/a.c", "content": "int add(int a, int b)\n{\n    return b + a;\n}\n"})
}

fn kept() -> Value {
    edit_of("    return a + b;", "    return b + a;")
}

/// One that puts a remark in the place of code.
fn lazy() -> Value {
    let new = "int sub(int a, int b)\n{\n    // ... rest unchanged ...\n}\n";
    edit_of("int sub(int a, int b)\n{\n    return a - b;\n}\n", new)
}

/// What became of an agent's reply where the model server gives these, one after another.
struct Played {
    response: Response,
    /// What the model server sent.
    sent: Vec<String>,
    /// What it was sent.
    requests: Vec<Value>,
    recent: Value,
}

/// Plays them for a user who says these words, in a client that calls itself so.
fn play(form: (Dialect, bool), words: &str, client: &str, replies: &[Vec<Value>]) -> Played {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    places.write(
        "src/b.c",
        "int one(void)\n{\n    return 1;\n}\n\nint two(void)\n{\n    return 2;\n}\n",
    );
    let tslp = Tslp::start(&places, &upstream);
    let mut sent = Vec::new();
    for calls in replies {
        let (media, body) = reply_with_calls(form.0, form.1, calls);
        upstream.will(Answer::Plain(200, media, body.clone().into_bytes()));
        sent.push(body);
    }
    let request = request_of(form, words).to_string();
    let headers = [JSON, ("user-agent", client)];
    let response = tslp.request("POST", form.0.route_path(), &headers, request.as_bytes());
    let requests = replies.iter().map(|_| upstream.next().json()).collect();
    assert!(upstream.saw_nothing(), "{form:?}: never more requests");
    let recent = tslp.ended(response.episode());
    tslp.stop();
    places.verify_deep();
    Played {
        response,
        sent,
        requests,
        recent,
    }
}

/// The arguments of the calls that a client got.
fn calls_got(form: (Dialect, bool), response: &Response) -> Vec<Value> {
    let calls = read(form.0, response).calls;
    calls
        .iter()
        .map(|(_, it)| serde_json::from_str(it).unwrap())
        .collect()
}

const CLIENT: &str = "nobody/1";

/// law engine 8 | A call that would lose code is asked for once more before the client has it, with what it loses; the second one goes out in its place
#[test]
fn lossy_call() {
    for form in forms() {
        let calls = [vec![lossy()], vec![kept()]];
        let played = play(form, "Turn the sum around.", CLIENT, &calls);
        assert_eq!(calls_got(form, &played.response), [kept()], "{form:?}");
        let [first, second] = &played.requests[..] else {
            panic!("two requests")
        };
        let list = list_of(form.0);
        let (before, after) = (
            first[list].as_array().unwrap(),
            second[list].as_array().unwrap(),
        );
        assert_eq!(
            before[..],
            after[..before.len()],
            "{form:?}: the prefix stays"
        );
        assert_eq!(first["temperature"], second["temperature"]);
        let added = json!(after[before.len()..]).to_string();
        for part in [
            "not accepted: existing symbols are missing from it",
            "Missing definitions: sub.",
            "return a - b;",
            "If the user asked to remove it, send the same call again",
        ] {
            assert!(added.contains(part), "{form:?}: {part}: {added}");
        }
        let refused = &played.recent["refused_drafts"];
        let fault = json!([{"entity": "src/a.c", "reason": "symbols_lost"}]);
        assert_eq!(refused, &json!({"first": fault, "second": []}), "{form:?}");
    }
}

/// law engine 8 | What the model says twice passes as it came, stays a proposal, and is told to the user
#[test]
fn repeated_call() {
    for form in forms() {
        let calls = [vec![lossy()], vec![lossy()]];
        let played = play(form, "Turn the sum around.", CLIENT, &calls);
        assert_eq!(calls_got(form, &played.response), [lossy()], "{form:?}");
        if form.1 {
            assert_eq!(played.response.text(), played.sent[0], "{form:?}");
        }
        let states = played.recent["artifact_states"].to_string();
        let proposed = r#"{"entity":"src/a.c","reason":"symbols_lost","state":"PROPOSED"}"#;
        assert!(states.contains(proposed), "{states}");
    }
}

/// law engine 8 | A placeholder that the model writes twice is kept back where the client takes a sentence in a call's place, and passes elsewhere
#[test]
fn placeholder_twice() {
    let said = "src/a.c was not changed: twice the model wrote \"// ... rest unchanged ...\" for a line of sub. Ask for a smaller edit.\n";
    for form in forms() {
        let calls = [vec![lazy()], vec![lazy()]];
        let played = play(form, "Make it faster.", CLIENT, &calls);
        assert_eq!(calls_got(form, &played.response), [lazy()], "{form:?}");
        let played = play(form, "Make it faster.", "opencode/1.0 ai-sdk/5", &calls);
        let got = read(form.0, &played.response);
        assert_eq!(got.text, said, "{form:?}: {}", played.response.text());
        assert_eq!(got.calls, [], "{form:?}");
        assert!(
            !played.response.text().contains("tool_use"),
            "{}",
            played.response.text()
        );
    }
}

/// What is whole passes byte for byte, and so does what the user's own words name, or another call of the reply has.
#[test]
fn nothing_asked() {
    let moved = json!({"file_path": "src/c.c", "content": "int sub(int a, int b)\n{\n    return a - b;\n}\n"});
    let cases = [
        ("Turn the sum around.", vec![kept()]),
        ("Turn add around, and sub is gone then.", vec![lossy()]),
        ("Turn the sum around.", vec![lossy(), moved]),
        (
            "List it.",
            vec![json!({"command": "ls"}), json!({"command": "ls -l"})],
        ),
    ];
    for form in forms() {
        for (words, calls) in &cases {
            let played = play(form, words, CLIENT, std::slice::from_ref(calls));
            assert_eq!(played.response.text(), played.sent[0], "{form:?}: {words}");
        }
    }
}

/// A call that went out before stays; those after wait, and go on in their order.
#[test]
fn one_of_several() {
    let run = json!({"command": "make test"});
    let other =
        json!({"file_path": "src/b.c", "old_string": "return 1;", "new_string": "return 3;"});
    for form in forms() {
        let calls = [
            vec![other.clone(), lossy(), run.clone()],
            vec![run.clone(), kept()],
        ];
        let played = play(form, "Turn the sum around.", CLIENT, &calls);
        assert_eq!(
            calls_got(form, &played.response),
            [other.clone(), kept(), run.clone()],
            "{form:?}"
        );
    }
}

/// What takes a call's place is judged like any other.
#[test]
fn harmful_second_call() {
    let patch = "*** Begin Patch\n*** Update File: src/a.c\n@@\n-    return a + b;\n+    return b + a;\n*** End Patch\n";
    let command = format!("apply_patch <<'EOF'\n{patch}EOF\ngit push --force origin main");
    let form = (Dialect::ChatCompletions, true);
    let calls = [vec![lossy()], vec![json!({ "command": command })]];
    let played = play(form, "Turn the sum around.", CLIENT, &calls);
    let got = read(form.0, &played.response);
    assert!(got.text.contains("The Guardian kept back"), "{}", got.text);
    assert_eq!(got.calls, []);
}

/// A file that the conversation wasn't shown is looked at before it is overwritten.
#[test]
fn unseen_file_overwritten() {
    for form in forms() {
        let write = |content: &str| json!({"file_path": "src/b.c", "content": content});
        let whole =
            write("int one(void)\n{\n    return 7;\n}\n\nint two(void)\n{\n    return 2;\n}\n");
        let calls = [
            vec![write("int one(void)\n{\n    return 7;\n}\n")],
            vec![whole.clone()],
        ];
        let played = play(form, "Let one be seven.", CLIENT, &calls);
        assert_eq!(calls_got(form, &played.response), [whole], "{form:?}");
    }
}

fn streamed(events: &str) -> Answer {
    Answer::Plain(200, "text/event-stream", events.as_bytes().to_vec())
}

/// A second reply that is none leaves the first.
#[test]
fn no_second_reply() {
    let form = (Dialect::ChatCompletions, true);
    let (_, first) = reply_with_calls(form.0, form.1, &[lossy()]);
    let cut =
        json!({"choices": [{"index": 0, "delta": {"content": "Done"}, "finish_reason": "length"}]});
    for second in [
        saying("I can't do that."),
        Answer::Plain(500, "application/json", b"{\"error\": \"no\"}".to_vec()),
        Answer::Plain(400, "text/plain", b"tool?".to_vec()),
        Answer::Steps(vec![Step::Chunk(event("Done:")), Step::Reset]),
        Answer::Steps(vec![Step::Chunk(format!(
            "data: {cut}\n\ndata: [DONE]\n\n"
        ))]),
        Answer::Silence(Step::Reset),
    ] {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/a.c", FILE);
        let tslp = Tslp::start(&places, &upstream);
        upstream.will(streamed(&first));
        upstream.will(second);
        let request = request_of(form, "Turn the sum around.").to_string();
        let response = tslp.request("POST", CHAT, &[JSON], request.as_bytes());
        assert_eq!(response.text(), first);
        let recent = tslp.ended(response.episode());
        assert_eq!(recent["outcome"], "completed", "{recent}");
        tslp.stop();
        places.verify_deep();
    }
}

/// A client hears that something is coming, and may leave; so may the proxy.
#[test]
fn nobody_waits() {
    let form = (Dialect::ChatCompletions, true);
    let (_, first) = reply_with_calls(form.0, form.1, &[lossy()]);
    for is_killed in [false, true] {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/a.c", FILE);
        let tslp = Tslp::start(&places, &upstream);
        upstream.will(streamed(&first));
        let (gone, closing) = closing();
        upstream.will(Answer::Silence(closing));
        let mut client = tslp.asking(&request_of(form, "Turn the sum around."));
        upstream.next();
        upstream.next();
        client.until(": ");
        let tslp = match is_killed {
            true => {
                tslp.kill();
                Tslp::start(&places, &upstream)
            }
            false => {
                drop(client);
                gone.recv().expect("the second request is called off");
                tslp
            }
        };
        let recent = tslp.ended(1);
        let outcome = if is_killed {
            "interrupted"
        } else {
            "client_gone"
        };
        assert_eq!(recent["outcome"], outcome, "{recent}");
        tslp.stop();
        places.verify_deep();
    }
}

/// A call that was written as text and would lose code is asked for once more, too.
#[test]
fn lossy_call_as_text() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::start(&places, &upstream);
    let written = |arguments: Value| {
        format!(
            "<tool_call>\n{}\n</tool_call>",
            json!({"name": tool_of(&arguments), "arguments": arguments})
        )
    };
    upstream.will_say(written(lossy()));
    upstream.will_say(written(kept()));
    let form = (Dialect::ChatCompletions, true);
    let request = request_of(form, "Turn the sum around.").to_string();
    let response = tslp.request("POST", CHAT, &[JSON], request.as_bytes());
    assert_eq!(calls_got(form, &response), [kept()]);
    upstream.next();
    let second = upstream.next().text();
    assert!(second.contains("Missing definitions: sub."), "{second}");
    assert!(upstream.saw_nothing());
    tslp.stop();
    places.verify_deep();
}

fn reply_with(code: &str) -> String {
    format!("Done:\n\n{}", fenced("src/ring.c", code))
}

const RULES: &str = "# Code of the ring\n\n- deny import: stdio.h\n- forbid call: printf\n";

/// law engine 5 | What the user's rules for code forbid isn't taken, named by line, until the user confirms it; what was there before is no fault of the change | spec_met, spec_broken
#[test]
fn broken_rules() {
    let broken = edit_of(
        "    return a + b;",
        "    printf(\"a\");\n    printf(\"b\");\n    return a + b;",
    );
    let form = (Dialect::ChatCompletions, true);
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    places.write("CodeSpec.md", RULES);
    let spec = places.workspace.join("CodeSpec.md");
    let spec = spec.to_str().unwrap();
    let tslp = Tslp::with(&places, &upstream.url, &["--spec-file", spec]);
    for calls in [broken, kept()] {
        let (media, body) = reply_with_calls(form.0, form.1, &[calls]);
        upstream.will(Answer::Plain(200, media, body.into_bytes()));
    }
    let request = request_of(form, "Say what it adds.").to_string();
    let response = tslp.request("POST", CHAT, &[JSON], request.as_bytes());
    assert_eq!(calls_got(form, &response), [kept()]);
    upstream.next();
    let asked = upstream.next().text();
    assert!(
        asked.contains("it breaks the rules for code of this project; keep each of them.\\nLine 3 calls `printf` (rule: forbid call: printf).\\nLine 4 calls `printf` (rule: forbid call: printf).\\n"),
        "{asked}"
    );
    assert!(upstream.saw_nothing(), "never a third request");
    let recent = tslp.ended(response.episode());
    let fault = json!([{"entity": "src/a.c::add", "reason": "spec_broken"}]);
    assert_eq!(recent["refused_drafts"]["first"], fault, "{recent}");
    tslp.stop();
    // The file may say what it likes since: code is judged by what it said then.
    places.write("CodeSpec.md", "- names: camelCase\n- forbid call: strlen\n");
    for settings in [
        &["verify", "--deep"][..],
        &["verify", "--deep", "--spec-file", spec],
    ] {
        let (exit, verified) = places.cli_json(settings);
        assert_eq!(
            (exit, &verified["deep"]["differences"]),
            (0, &json!([])),
            "{verified}"
        );
    }
    let log = places
        .in_workspace(&["log", "--kind", "rules_in_force"])
        .output();
    let log = String::from_utf8(log.unwrap().stdout).unwrap();
    assert!(
        log.contains("spec.file ") && !log.contains("printf"),
        "{log}"
    );
}

#[test]
fn unreadable_rules() {
    let places = Places::new();
    for (rules, problem) in [
        (
            Some("- one block\n- no prose\n"),
            "has no rule in line 2, `- no prose`: known are `one block`",
        ),
        (None, "must name a file that can be read"),
    ] {
        rules
            .into_iter()
            .for_each(|rules| places.write("CodeSpec.md", rules));
        let spec = places
            .workspace
            .join(rules.map_or("none.md", |_| "CodeSpec.md"));
        let serve = ["serve", "--spec-file", spec.to_str().unwrap()];
        let (exit, said) = failure(places.in_workspace(&serve));
        assert!(exit != 0 && said.contains(problem), "{said}");
    }
}

/// A conversation in which the model's change was accepted and written to disk, with a check after it.
fn check_after_a_change(command: &str, then: impl FnOnce(&Upstream, &Places, &mut Talk<'_>)) {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let makefile = "test:\n\t@echo made > src/made\nfork:\n\t@for i in $$(seq 2000); do sleep 4404 & done; wait\nflood:\n\t@yes\n";
    places.write("Makefile", makefile);
    let tslp = Tslp::with(&places, &upstream.url, &["--check-command", command]);
    let mut talk = Talk::new(&tslp);
    upstream.will_say(reply_with(RING_BETTER));
    talk.ask(&format!(
        "{}Return -1 when it is full.",
        fenced("src/ring.c", RING)
    ));
    upstream.next();
    places.write("src/ring.c", RING_BETTER);
    then(&upstream, &places, &mut talk);
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
}

fn checks(places: &Places) -> Vec<Value> {
    let events = recorded(places);
    let checks = of_kind(&events, "check_ran").into_iter();
    checks.map(|event| event["event"].clone()).collect()
}

/// law engine 8 | What a check says of the files after a change is told with the next prompt, and makes nothing true | check_ran
#[test]
fn failing_check() {
    check_after_a_change(
        "grep -n count src/ring.c nosuch.c",
        |upstream, places, talk| {
            let ran = eventually(|| checks(places).pop());
            assert_eq!(ran["outcome"], json!({"exited": 2}), "{ran}");
            talk.ask("Thank you.");
            let told = upstream.next().text();
            let said = "`grep -n count src/ring.c nosuch.c` was run on the files on disk after the last change: exit 2.\\nsrc/ring.c:2:    if (r->count == r->size) return -1;";
            assert!(told.contains(said), "{told}");
            assert!(told.contains("nosuch.c: No such file"), "{told}");
            let (_, status) = places.cli_json(&["status"]);
            assert_eq!(status["test"]["passed"], false, "{status}");
            // No second one after a turn that changed nothing.
            talk.ask("Anything else?");
            upstream.next();
            assert_eq!(checks(places).len(), 1);
        },
    );
}

/// A check changes nothing, and the next request calls it off.
#[test]
fn check_called_off() {
    check_after_a_change("make -s test", |_, places, _| {
        let before = snapshot(&places.workspace);
        let ran = eventually(|| checks(places).pop());
        assert_eq!(ran["outcome"], json!({"exited": 0}), "{ran}");
        assert!(snapshot(&places.workspace) == before, "nothing is written");
    });
    check_after_a_change("tail -f src/ring.c", |upstream, places, talk| {
        eventually(|| {
            let running = std::process::Command::new("pgrep")
                .args(["-fx", "tail -f src/ring.c"])
                .output()
                .unwrap();
            running.status.success().then_some(())
        });
        talk.ask("Stop.");
        upstream.next();
        let ran = eventually(|| checks(places).pop());
        assert_eq!(ran["outcome"], "stopped", "{ran}");
    });
}

#[test]
fn fork_or_flood() {
    for (command, limit) in [("make -s fork", "processes"), ("make -s flood", "output")] {
        check_after_a_change(command, |upstream, places, talk| {
            let ran = eventually(|| checks(places).pop());
            let outcome = &ran["outcome"];
            // Of an ordinary user the kernel refuses the fork itself.
            let is_refused = limit == "processes" && outcome["exited"].as_u64() > Some(0);
            assert!(is_refused || *outcome == json!({ "limit": limit }), "{ran}");
            let asleep = std::process::Command::new("pgrep")
                .args(["-fx", "sleep 4404"])
                .output();
            assert!(asleep.unwrap().stdout.is_empty(), "nothing runs on");
            talk.ask("Thank you.");
            let told = upstream.next().text();
            assert!(
                told.contains(&format!("`{command}` was run on the files on disk")),
                "{told}"
            );
            assert!(told.len() < 20_000, "{} bytes are told", told.len());
        });
    }
}

/// A third edit that fails alike is answered with the lines that are known.
#[test]
fn third_failing_edit() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::start(&places, &upstream);
    let mut agent = Agent::new(
        &tslp,
        &upstream,
        "/v1/chat/completions",
        "Let sub in src/a.c saturate.",
    );
    let file = json!({"file_path": "src/a.c"});
    agent.call("read", &file, FILE);
    let old = "int sub(int a, int b) {\n    return b - a;\n}";
    let edit = json!({"file_path": "src/a.c", "old_string": old, "new_string": "int sub(int a, int b) {\n    return 0;\n}"});
    for _ in 0..3 {
        agent.call(
            "edit",
            &edit,
            "No replacement performed: text not found in src/a.c.",
        );
    }
    let told = messages_of(&agent.call("read", &file, FILE))
        .pop()
        .unwrap()
        .to_string();
    for part in ["third one with the same arguments", "src/a.c:6-9 read:"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// What an agent runs itself is not run again.
#[test]
fn agents_own_check() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let command = "grep -n count src/ring.c";
    let tslp = Tslp::with(&places, &upstream.url, &["--check-command", command]);
    let path = "/v1/chat/completions";
    let mut agent = Agent::new(
        &tslp,
        &upstream,
        path,
        "Return -1 when it is full, in src/ring.c.",
    );
    let edit = |old: &str, new: &str| json!({"file_path": "src/ring.c", "old_string": old, "new_string": new});
    let read = json!({"file_path": "src/ring.c"});
    agent.call("read", &read, RING);
    agent.call("edit", &edit(RING, RING_BETTER), "Done.");
    places.write("src/ring.c", RING_BETTER);
    let run = json!({"command": format!("cd . && {command}")});
    agent.call("bash", &run, "2: count");
    agent.ends("All is well.");
    assert_eq!(checks(&places), Vec::<Value>::new());
    agent.asks("Now without the count.");
    agent.call("edit", &edit(RING_BETTER, RING), "Done.");
    places.write("src/ring.c", RING);
    agent.ends("Done.");
    let ran = eventually(|| checks(&places).pop());
    assert_eq!(ran["outcome"], json!({"exited": 1}), "{ran}");
    assert_eq!(checks(&places).len(), 1);
}
