//! What a model almost did: edits that don't match are answered with the truth.

use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;

use crate::budgets::Agent;
use crate::harness::{
    CHAT, JSON, Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, eventually, failure, fenced, user,
};
use crate::lost_calls::{forms, read, reply};
use crate::sandbox::snapshot;
use crate::tool_loop::{events as recorded, of_kind};
use crate::upstream::{
    Answer, Step, Upstream, barrier, closing, completion, event, events, saying,
};
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
    untouched(
        "String to replace not found in file.",
        &["--repair-edits", "off"],
    );
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

/// A reply with calls of `edit`; in a stream their arguments come in two pieces where a dialect has pieces.
fn reply_with_calls(dialect: Dialect, streams: bool, calls: &[Value]) -> (&'static str, String) {
    let at = |text: &str| (1..).find(|at| text.is_char_boundary(*at)).unwrap();
    let numbered = || calls.iter().map(Value::to_string).enumerate();
    let items: Vec<Value> = match dialect {
        Dialect::Messages => {
            let calls = calls.iter().enumerate();
            calls.map(|(at, input)| json!({"type": "tool_use", "id": format!("t{at}"), "name": "edit", "input": input})).collect()
        }
        Dialect::Responses => numbered()
            .map(|(at, arguments)| json!({"type": "function_call", "id": format!("f{at}"), "call_id": format!("t{at}"), "name": "edit", "arguments": arguments}))
            .collect(),
        Dialect::OllamaChat => calls.iter().map(|arguments| json!({"function": {"name": "edit", "arguments": arguments}})).collect(),
        _ => numbered()
            .map(|(at, arguments)| json!({"index": at, "id": format!("t{at}"), "type": "function", "function": {"name": "edit", "arguments": arguments}}))
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

/// What the client gets of calls, and what the record says of them, where the user has pasted the file.
fn calls_through(
    settings: &[&str],
    (dialect, streams): (Dialect, bool),
    calls: &[Value],
) -> (Response, Value, String) {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, settings);
    let (media, sent) = reply_with_calls(dialect, streams, calls);
    upstream.will(Answer::Plain(200, media, sent.clone().into_bytes()));
    let tool = match dialect {
        Dialect::Messages => json!({"name": "edit", "input_schema": {}}),
        Dialect::Responses => json!({"type": "function", "name": "edit"}),
        _ => json!({"type": "function", "function": {"name": "edit"}}),
    };
    let mut request = json!({"model": "m", "max_tokens": 99, "stream": streams, "tools": [tool]});
    let field = if dialect == Dialect::Responses {
        "input"
    } else {
        "messages"
    };
    request[field] = json!([user(&format!(
        "{}Turn sub around.",
        fenced("src/a.c", FILE)
    ))]);
    let response = tslp.request(
        "POST",
        dialect.route_path(),
        &[JSON],
        request.to_string().as_bytes(),
    );
    let recent = tslp.ended(response.episode());
    tslp.stop();
    places.verify_deep();
    (response, recent, sent)
}

const REWRITE: [&str; 2] = ["--repair-edits", "rewrite"];

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
        let (response, recent, _) = calls_through(&REWRITE, form, &[exact.clone(), near.clone()]);
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
        for settings in [&[][..], &["--guardian-client-tools", "hold"]] {
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
        let (response, _, sent) = calls_through(&REWRITE, one, &calls);
        assert_eq!(response.text(), sent);
    }
}

/// law engine 8 | An edit whose old text isn't in its file is made to fit before the client has it, by setting and where one place alone can be meant; that is told | edit_fitted
#[test]
fn former_text_edited() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, &REWRITE);
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

/// The improved function with a placeholder in the place of what the model left out.
const LAZY: &str = "int ring_put(struct ring *r, int value) {\n    if (r->count == r->size) return -1;\n    // ... rest of the code unchanged ...\n}\n";

/// A chat about the ring buffer, which the user pastes.
fn chat_request(stream: bool) -> Value {
    let pasted = format!("{}Return -1 when it is full.", fenced("src/ring.c", RING));
    json!({"model": "m", "messages": [user(&pasted)], "temperature": 0.8, "stream": stream})
}

fn reply_with(code: &str) -> String {
    format!("Done:\n\n{}", fenced("src/ring.c", code))
}

/// What became of a chat's reply where the model server first says the lazy one.
struct Repaired {
    said: String,
    response: Response,
    recent: Value,
    requests: [Value; 2],
    code: String,
}

fn repaired(stream: bool, first: &str, second: Answer) -> Repaired {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
    upstream.will_say(first);
    upstream.will(second);
    let response = tslp.chat(&chat_request(stream));
    let requests = [upstream.next().json(), upstream.next().json()];
    assert!(upstream.saw_nothing(), "never a third request");
    let recent = tslp.ended(response.episode());
    let code = tslp.artifact(RING_PUT);
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
    Repaired {
        said: response.said(),
        response,
        recent,
        requests,
        code,
    }
}

const RULES: &str = "# Code of the ring\n\n- deny import: stdio.h\n- forbid call: printf\n";

/// law engine 5 | What the user's rules for code forbid isn't taken, named by line, until the user confirms it; what was there before is no fault of the change | spec_met, spec_broken
#[test]
fn broken_rules() {
    let broken = RING_BETTER.replace(
        "return -1;",
        "{\n    printf(\"full\");\n    printf(\"!\");\n    return -1; }",
    );
    // Fewer broken rules are better.
    let less = RING_BETTER.replace("return -1;", "{\n    printf(\"full\");\n    return -1; }");
    let pasted = pasted_artifact();
    for (second, goes_out, is_taken) in [
        (RING_BETTER, RING_BETTER, true),
        (&*less, &*less, false),
        (&*broken, &*broken, false),
    ] {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/ring.c", RING);
        places.write("CodeSpec.md", RULES);
        let spec = places.workspace.join("CodeSpec.md");
        let spec = spec.to_str().unwrap();
        let tslp = Tslp::with(
            &places,
            &upstream.url,
            &["--repair-code", "chats", "--spec-file", spec],
        );
        upstream.will_say(reply_with(&broken));
        upstream.will_say(reply_with(second));
        let response = tslp.chat(&chat_request(true));
        assert!(
            response.said().starts_with(&reply_with(goes_out)),
            "{}",
            response.said()
        );
        upstream.next();
        let again = upstream.next().json();
        assert_eq!(again["temperature"], json!(0));
        let asked = again["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(
            asked.contains("it breaks the rules for code of this project; keep each of them.\nLine 3 calls `printf` (rule: forbid call: printf).\nLine 4 calls `printf` (rule: forbid call: printf).\n"),
            "{asked}"
        );
        assert!(upstream.saw_nothing(), "never a third request");
        let recent = tslp.ended(response.episode());
        let draft = json!({"entity": RING_PUT, "reason": "spec_broken"});
        assert_eq!(
            recent["refused_drafts"]["first"],
            json!([draft]),
            "{recent}"
        );
        assert_eq!(tslp.artifact(RING_PUT) != pasted, is_taken);
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
}

/// Code that names no file is asked for once more if the rules name one.
#[test]
fn file_named_by_rules() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("CodeSpec.md", "- file: src/ring.c\n");
    let spec = places.workspace.join("CodeSpec.md");
    let spec = [
        "--repair-code",
        "chats",
        "--spec-file",
        spec.to_str().unwrap(),
    ];
    let tslp = Tslp::with(&places, &upstream.url, &spec);
    upstream.will_say(format!("Here:\n\n```c\n{RING_BETTER}```\n"));
    upstream.will_say(reply_with(RING_BETTER));
    assert_eq!(tslp.say("Write ring_put.").said(), reply_with(RING_BETTER));
    upstream.next();
    let asked = upstream.next().text();
    assert!(
        asked.contains("The code names no file, and the user's rules want src/ring.c:"),
        "{asked}"
    );
    assert!(!tslp.artifact(RING_PUT).is_empty());
    tslp.stop();
    places.verify_deep();
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

/// The artifact of the function as it is pasted.
fn pasted_artifact() -> String {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    tslp.chat(&chat_request(false));
    tslp.artifact(RING_PUT)
}

/// The tokens that a client is told of.
fn tokens_told(response: &Response) -> u64 {
    response.json()["usage"]["total_tokens"].as_u64().unwrap()
}

/// A lazy reply is asked for once more, and the whole one goes out.
#[test]
fn lazy_reply() {
    let pasted = pasted_artifact();
    for stream in [false, true] {
        let whole = reply_with(RING_BETTER);
        let repaired = repaired(stream, &reply_with(LAZY), saying(whole.clone()));
        assert_eq!(repaired.said, whole);
        assert!(!repaired.response.text().contains("rest of the code"));
        if !stream {
            assert_eq!(tokens_told(&repaired.response), 4, "both are paid");
        }
        assert_ne!(repaired.code, pasted, "the whole one is true");
        let [first, second] = &repaired.requests;
        assert_eq!(
            (&first["temperature"], &second["temperature"]),
            (&json!(0.8), &json!(0))
        );
        let said = |request: &Value| {
            let messages = request["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 1, "{request}");
            messages[0]["content"].as_str().unwrap().to_owned()
        };
        let (before, after) = (said(first), said(second));
        let complaint = after.strip_prefix(&before).expect("the prompt goes on");
        for part in [
            "The last change to src/ring.c::ring_put was not accepted: it leaves out code behind a placeholder",
            "Line 3 has a placeholder: // ... rest of the code unchanged ...",
            "This is the code to keep:",
            "r->slots[r->head] = value;",
        ] {
            assert!(complaint.contains(part), "{part}: {complaint}");
        }
        let draft = json!({"entity": RING_PUT, "reason": "elided"});
        assert_eq!(
            repaired.recent["refused_drafts"],
            json!({"first": [draft], "second": []})
        );
    }
}

/// Code without a path belongs to the file of the prompt that it answers.
#[test]
fn path_from_prompt() {
    let first = "Here:\n\n```c\nint ring_put(struct ring *r, int value) {\n    // ... rest of the function unchanged ...\n}\n```\n";
    let whole = format!("Here:\n\n```c\n{RING_BETTER}```\n");
    let repaired = repaired(true, first, saying(whole.clone()));
    assert_eq!(repaired.said, whole);
}

/// A second reply that is no better leaves the first.
#[test]
fn no_better_reply() {
    let pasted = pasted_artifact();
    let cut =
        json!({"choices": [{"index": 0, "delta": {"content": "Done"}, "finish_reason": "length"}]});
    let seconds = || {
        [
            saying(reply_with(LAZY)),
            saying("I can't do that."),
            // A worse one: two faults instead of one.
            saying(reply_with(LAZY) + &fenced("src/ring.c", LAZY)),
            Answer::Plain(500, "application/json", b"{\"error\": \"no\"}".to_vec()),
            Answer::Plain(400, "text/plain", b"temperature?".to_vec()),
            Answer::Steps(vec![Step::Chunk(event("Done:")), Step::Reset]),
            Answer::Steps(vec![Step::Chunk(format!(
                "data: {cut}\n\ndata: [DONE]\n\n"
            ))]),
            Answer::Silence(Step::Reset),
        ]
    };
    for stream in [false, true] {
        for second in seconds() {
            if !stream && matches!(second, Answer::Steps(_)) {
                continue;
            }
            let is_whole = matches!(second, Answer::Reply(_));
            let repaired = repaired(stream, &reply_with(LAZY), second);
            if !stream {
                let tokens = if is_whole { 4 } else { 2 };
                assert_eq!(tokens_told(&repaired.response), tokens);
            }
            let said = &repaired.said;
            assert!(said.starts_with(&reply_with(LAZY)), "{said}");
            assert!(
                said.contains("[tslp] src/ring.c::ring_put is not taken from this reply"),
                "{said}"
            );
            assert!(repaired.response.whole);
            assert_eq!(repaired.code, pasted);
            let recent = &repaired.recent;
            assert_eq!(recent["outcome"], "completed", "{recent}");
            assert!(recent["refused_drafts"]["first"].is_array(), "{recent}");
        }
    }
}

/// A healthy reply is the server's own, byte for byte.
#[test]
fn healthy_reply() {
    let raw: String = events(&reply_with(RING_BETTER)).concat();
    for settings in [&[][..], &["--repair-code", "chats"]] {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/ring.c", RING);
        let tslp = Tslp::with(&places, &upstream.url, settings);
        upstream.will_say(reply_with(RING_BETTER));
        assert_eq!(tslp.chat(&chat_request(true)).text(), raw);
        upstream.will_say("No code at all.");
        let plain = tslp.say("Thanks.");
        let body = completion("No code at all.").to_string();
        assert_eq!(plain.text(), body);
        upstream.next();
        upstream.next();
        assert!(upstream.saw_nothing());
    }
    // By default a lazy one goes out as it came, too.
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say(reply_with(LAZY));
    let said = tslp.chat(&chat_request(true)).said();
    assert!(said.starts_with(&reply_with(LAZY)), "{said}");
    upstream.next();
    assert!(upstream.saw_nothing());
}

/// A client hears that something is coming, and may leave.
#[test]
fn client_may_leave() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
    upstream.will_say(reply_with(LAZY));
    let (gone, closing) = closing();
    upstream.will(Answer::Silence(closing));
    let mut client = tslp.asking(&chat_request(true));
    client.until(": the reply is judged before it is shown");
    upstream.next();
    upstream.next();
    drop(client);
    gone.recv().expect("the repair is called off");
    let recent = tslp.ended(1);
    assert_eq!(recent["outcome"], "client_gone", "{recent}");
    assert_eq!(tslp.artifact(RING_PUT), pasted_artifact());
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
}

/// A power cut in a repair leaves an interrupted episode, and nothing becomes true.
#[test]
fn power_cut_between() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
    upstream.will_say(reply_with(LAZY));
    let (_open, wait) = barrier();
    upstream.will(Answer::Steps(vec![
        Step::Chunk(event(&reply_with(RING_BETTER))),
        wait,
    ]));
    let _client = tslp.asking(&chat_request(true));
    upstream.next();
    upstream.next();
    eventually(|| {
        let recent = tslp.last_episode();
        recent["refused_drafts"].is_object().then_some(())
    });
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    let recent = tslp.ended(1);
    assert_eq!(recent["outcome"], "interrupted", "{recent}");
    assert_eq!(tslp.artifact(RING_PUT), pasted_artifact());
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
}

#[test]
fn every_dialect() {
    let pasted = format!("{}Return -1 when it is full.", fenced("src/ring.c", RING));
    let text = |code: &str| reply_with(code);
    type Saying = fn(&str) -> Value;
    let cases: [(&str, Value, Saying); 4] = [
        (
            "/v1/messages",
            json!({"model": "m", "max_tokens": 900, "messages": [user(&pasted)]}),
            |said| json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": said}], "stop_reason": "end_turn"}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "input": pasted}),
            |said| {
                let content = json!([{"type": "output_text", "text": said}]);
                json!({"id": "r", "object": "response", "status": "completed", "output": [{"type": "message", "role": "assistant", "content": content}]})
            },
        ),
        (
            "/api/chat",
            json!({"model": "m", "messages": [user(&pasted)], "stream": false}),
            |said| json!({"message": {"role": "assistant", "content": said}, "done": true, "done_reason": "stop"}),
        ),
        (CHAT, chat_request(false), completion),
    ];
    for (path, request, body) in cases {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/ring.c", RING);
        let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
        for code in [LAZY, RING_BETTER] {
            let body = body(&text(code)).to_string().into_bytes();
            upstream.will(Answer::Plain(200, "application/json", body));
        }
        let response = tslp.request("POST", path, &[JSON], request.to_string().as_bytes());
        let (mut got, expected) = (response.json(), body(&text(RING_BETTER)));
        if path == CHAT {
            assert_eq!(tokens_told(&response), 4, "both are paid");
            got["usage"] = expected["usage"].clone();
        }
        assert_eq!(got, expected, "{path}");
        upstream.next();
        let second = upstream.next().text();
        assert!(
            second.contains("Answer the request again."),
            "{path}: {second}"
        );
        assert!(second.contains("\"temperature\":0"), "{path}: {second}");
    }
}

#[test]
fn every_streamed_dialect() {
    let pasted = format!("{}Return -1 when it is full.", fenced("src/ring.c", RING));
    for (dialect, streams) in forms().filter(|(_, streams)| *streams) {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/ring.c", RING);
        let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
        for code in [LAZY, RING_BETTER] {
            upstream.will(reply(dialect, streams, &reply_with(code)));
        }
        let mut request = json!({"model": "m", "max_tokens": 900, "stream": true});
        let field = match dialect {
            Dialect::Responses => "input",
            _ => "messages",
        };
        request[field] = json!([user(&pasted)]);
        let body = request.to_string();
        let response = tslp.request("POST", dialect.route_path(), &[JSON], body.as_bytes());
        let said = response.text();
        assert!(!said.contains("rest of the code"), "{dialect:?}: {said}");
        let got = read(dialect, &response).text;
        assert_eq!(got, reply_with(RING_BETTER), "{dialect:?}: {said}");
        upstream.next();
        let second = upstream.next().text();
        assert!(second.contains("Answer the request again."), "{second}");
        assert!(upstream.saw_nothing(), "{dialect:?}: never a third request");
    }
}

/// A reply that was cut at its limit goes out as it is.
#[test]
fn cut_at_its_limit() {
    let lazy = reply_with(LAZY);
    let content = json!([{"type": "output_text", "text": lazy}]);
    for (path, reply) in [
        (
            "/v1/messages",
            json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": lazy}], "stop_reason": "max_tokens"}),
        ),
        (
            "/v1/responses",
            json!({"id": "r", "object": "response", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
                "output": [{"type": "message", "role": "assistant", "content": content}]}),
        ),
        (
            CHAT,
            json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": lazy}, "finish_reason": "length"}]}),
        ),
    ] {
        let (upstream, places) = (Upstream::start(), Places::new());
        places.write("src/ring.c", RING);
        let tslp = Tslp::with(&places, &upstream.url, &["--repair-code", "chats"]);
        let pasted = format!("{}Return -1 when it is full.", fenced("src/ring.c", RING));
        let mut request = json!({"model": "m", "max_tokens": 9});
        match path {
            "/v1/responses" => request["input"] = pasted.into(),
            _ => request["messages"] = json!([user(&pasted)]),
        }
        let body = reply.to_string().into_bytes();
        upstream.will(Answer::Plain(200, "application/json", body));
        let response = tslp.request("POST", path, &[JSON], request.to_string().as_bytes());
        assert!(response.text().contains("rest of the code"), "{path}");
        upstream.next();
        assert!(upstream.saw_nothing(), "{path} was asked for again");
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

/// An agent's write that leaves code out is asked for once more under hold.
#[test]
fn lossy_write_under_hold() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    let settings = ["--repair-code", "writes", "--guardian-client-tools", "hold"];
    let tslp = Tslp::with(&places, &upstream.url, &settings);
    let writes = |code: &str| {
        let arguments = json!({"file_path": "src/ring.c", "content": code}).to_string();
        let function = json!({"name": "write", "arguments": arguments});
        let calls = json!([{"id": "t", "type": "function", "function": function}]);
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    };
    for code in [LAZY, RING_BETTER] {
        let body = writes(code).to_string().into_bytes();
        upstream.will(Answer::Plain(200, "application/json", body));
    }
    let pasted = format!("{}Return -1 when it is full.", fenced("src/ring.c", RING));
    let tool = json!({"type": "function", "function": {"name": "write"}});
    let response = tslp.chat(&json!({"model": "m", "messages": [user(&pasted)], "tools": [tool]}));
    assert_eq!(response.json(), writes(RING_BETTER));
    upstream.next();
    upstream.next();
    let recent = tslp.ended(1);
    assert!(recent["refused_drafts"].is_object(), "{recent}");
    tslp.stop();
    let (exit, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(exit, 0, "{verified}");
}
