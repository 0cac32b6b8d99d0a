//! A request whose reply is asked for once more: the same prompt, with a remark at its end, or with the reply's calls and their results.

use serde_json::{Map, Value, json};
use tslp_core::message::ToolCall;

use super::dialect::Dialect;
use super::encode::call_value;

/// The request's body with a reply after all that it says: its text and calls, and what became of each call. `None` if it holds no
/// messages. What a model server has read of the prompt stays as it is, and so does how the client has it sample.
#[must_use]
pub fn with_results(
    dialect: Dialect,
    body: &[u8],
    text: &str,
    calls: &[(String, ToolCall, String)],
) -> Option<Vec<u8>> {
    let mut request: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let (list, added) = match dialect {
        Dialect::ChatCompletions | Dialect::OllamaChat => {
            ("messages", in_messages(dialect, text, calls))
        }
        Dialect::Messages => ("messages", in_blocks(text, calls)),
        Dialect::Responses => ("input", in_items(&request, text, calls)),
        Dialect::Completions | Dialect::OllamaGenerate => return None,
    };
    let prompt = request.get_mut(list)?;
    if let Value::String(said) = prompt {
        *prompt = json!([{ "role": "user", "content": said }]);
    }
    prompt.as_array_mut()?.extend(added);
    serde_json::to_vec(&request).ok()
}

fn in_messages(dialect: Dialect, text: &str, calls: &[(String, ToolCall, String)]) -> Vec<Value> {
    let made = calls
        .iter()
        .map(|(id, call, _)| call_value(dialect, id, call));
    let made: Vec<Value> = made.collect();
    let results = calls.iter().map(|(id, call, result)| match dialect {
        Dialect::OllamaChat => json!({ "role": "tool", "tool_name": call.name, "content": result }),
        _ => json!({ "role": "tool", "tool_call_id": id, "content": result }),
    });
    let said = json!({ "role": "assistant", "content": text, "tool_calls": made });
    [said].into_iter().chain(results).collect()
}

fn in_blocks(text: &str, calls: &[(String, ToolCall, String)]) -> Vec<Value> {
    // An empty text is no block.
    let said = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let made = calls
        .iter()
        .map(|(id, call, _)| call_value(Dialect::Messages, id, call));
    let results = calls.iter().map(|(id, _, result)| {
        json!({ "type": "tool_result", "tool_use_id": id, "is_error": true, "content": result })
    });
    Vec::from([
        json!({ "role": "assistant", "content": said.into_iter().chain(made).collect::<Value>() }),
        json!({ "role": "user", "content": results.collect::<Value>() }),
    ])
}

fn in_items(
    request: &Map<String, Value>,
    text: &str,
    calls: &[(String, ToolCall, String)],
) -> Vec<Value> {
    let tools = request.get("tools").and_then(Value::as_array);
    let is_custom = |call: &ToolCall| {
        let mut tools = tools.into_iter().flatten();
        tools.any(|it| it["type"] == "custom" && it["name"] == *call.name)
    };
    let said = (!text.is_empty()).then(|| json!({ "role": "assistant", "content": text }));
    let pairs = calls.iter().flat_map(|(id, call, result)| {
        // A custom tool has a text for its input, which is read as an argument.
        let read: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let (made, kind) = match is_custom(call) {
            true => (
                json!({ "type": "custom_tool_call", "call_id": id, "name": call.name, "input": read["input"] }),
                "custom_tool_call_output",
            ),
            false => (call_value(Dialect::Responses, id, call), "function_call_output"),
        };
        [made, json!({ "type": kind, "call_id": id, "output": result })]
    });
    said.into_iter().chain(pairs).collect()
}

/// The request's body with a remark after all that it says, at temperature 0; `None` if it holds no prompt that could go on. What a
/// model server has read of the prompt stays as it is.
#[must_use]
pub fn asked_again(dialect: Dialect, body: &[u8], remark: &str) -> Option<Vec<u8>> {
    let mut request: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let options = match dialect {
        Dialect::OllamaChat | Dialect::OllamaGenerate => {
            let options = request.entry("options").or_insert_with(|| json!({}));
            options.as_object_mut()?
        }
        _ => &mut request,
    };
    options.insert("temperature".into(), json!(0));
    let prompt = match dialect {
        Dialect::Completions | Dialect::OllamaGenerate => "prompt",
        Dialect::Responses => "input",
        Dialect::ChatCompletions | Dialect::Messages | Dialect::OllamaChat => "messages",
    };
    match request.get_mut(prompt)? {
        Value::String(text) => add_to(text, remark),
        Value::Array(messages) => {
            let last = messages.last_mut()?;
            let is_users = last["role"] == "user";
            match last.get_mut("content").filter(|_| is_users) {
                Some(Value::String(text)) => add_to(text, remark),
                Some(Value::Array(parts)) => {
                    let kind = match dialect {
                        Dialect::Responses => "input_text",
                        _ => "text",
                    };
                    parts.push(json!({ "type": kind, "text": remark }));
                }
                _ => messages.push(json!({ "role": "user", "content": remark })),
            }
        }
        _ => return None,
    }
    serde_json::to_vec(&request).ok()
}

fn add_to(text: &mut String, remark: &str) {
    text.push_str("\n\n");
    text.push_str(remark);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, body: Value, expected: Value) {
        let again = asked_again(dialect, body.to_string().as_bytes(), "Again.");
        let again = again.map(|again| serde_json::from_slice::<Value>(&again).unwrap());
        assert_eq!(again, Some(expected), "{dialect:?}");
    }

    /// Each dialect's prompt goes on with the remark.
    #[test]
    fn remark_appended() {
        let said = |content: Value| json!({ "role": "user", "content": content });
        let again = said(json!("Add.\n\nAgain."));
        for dialect in [Dialect::ChatCompletions, Dialect::Messages] {
            let before =
                json!({ "messages": [said(json!("Add."))], "temperature": 0.7, "x": [1, null] });
            let after = json!({ "messages": [again], "temperature": 0, "x": [1, null] });
            check(dialect, before, after);
        }
        check(
            Dialect::OllamaChat,
            json!({ "messages": [said(json!("Add."))], "options": { "num_ctx": 5 } }),
            json!({ "messages": [again], "options": { "num_ctx": 5, "temperature": 0 } }),
        );
        let parts = |kind: &str, texts: &[&str]| {
            let parts = texts
                .iter()
                .map(|text| json!({ "type": kind, "text": text }));
            said(parts.collect())
        };
        check(
            Dialect::Responses,
            json!({ "input": [parts("input_text", &["Add."])] }),
            json!({ "input": [parts("input_text", &["Add.", "Again."])], "temperature": 0 }),
        );
        for (dialect, field) in [
            (Dialect::Responses, "input"),
            (Dialect::Completions, "prompt"),
        ] {
            let after = json!({ field: "Add.\n\nAgain.", "temperature": 0 });
            check(dialect, json!({ field: "Add." }), after);
        }
        // A tool's result isn't added to.
        let result = json!({ "role": "tool", "content": "3", "tool_call_id": "a" });
        check(
            Dialect::ChatCompletions,
            json!({ "messages": [result] }),
            json!({ "messages": [result, said(json!("Again."))], "temperature": 0 }),
        );
        assert_eq!(asked_again(Dialect::Messages, b"{}", "Again."), None);
        assert_eq!(asked_again(Dialect::Messages, b"[", "Again."), None);
    }

    /// A reply's calls and what became of them come after the prompt, and nothing else changes.
    #[test]
    fn results_appended() {
        let call = |name: &str, arguments: Value| ToolCall {
            id: String::new(),
            name: name.into(),
            arguments: arguments.to_string(),
        };
        let write = call("write", json!({ "path": "a.c" }));
        let check = |dialect, body: Value, calls: &[(String, ToolCall, String)], added: Value| {
            let mut expected = body.clone();
            let list = if dialect == Dialect::Responses {
                "input"
            } else {
                "messages"
            };
            if let Value::String(said) = &body[list] {
                expected[list] = json!([{ "role": "user", "content": said }]);
            }
            let added = added.as_array().unwrap().clone();
            expected[list].as_array_mut().unwrap().extend(added);
            let again = with_results(dialect, body.to_string().as_bytes(), "Now.", calls).unwrap();
            assert_eq!(serde_json::from_slice::<Value>(&again).unwrap(), expected);
        };
        let one = [("t1".to_owned(), write, "No.".to_owned())];
        let chat =
            json!({ "messages": [{ "role": "user", "content": "Add." }], "temperature": 0.7 });
        check(
            Dialect::ChatCompletions,
            chat.clone(),
            &one,
            json!([
                { "role": "assistant", "content": "Now.", "tool_calls": [
                    { "id": "t1", "type": "function", "function": { "name": "write", "arguments": "{\"path\":\"a.c\"}" } }] },
                { "role": "tool", "tool_call_id": "t1", "content": "No." },
            ]),
        );
        check(
            Dialect::OllamaChat,
            chat.clone(),
            &one,
            json!([
                { "role": "assistant", "content": "Now.", "tool_calls": [
                    { "function": { "name": "write", "arguments": { "path": "a.c" } } }] },
                { "role": "tool", "tool_name": "write", "content": "No." },
            ]),
        );
        check(
            Dialect::Messages,
            chat,
            &one,
            json!([
                { "role": "assistant", "content": [
                    { "type": "text", "text": "Now." },
                    { "type": "tool_use", "id": "t1", "name": "write", "input": { "path": "a.c" } }] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "No." }] },
            ]),
        );
        let patch = (
            "t2".to_owned(),
            call("apply_patch", json!({ "input": "*** Begin" })),
            "Not run.".to_owned(),
        );
        let tools = json!([{ "type": "custom", "name": "apply_patch" }, { "type": "function", "name": "write" }]);
        check(
            Dialect::Responses,
            json!({ "input": "Add.", "tools": tools }),
            &[one[0].clone(), patch],
            json!([
                { "role": "assistant", "content": "Now." },
                { "type": "function_call", "id": "fc_t1", "call_id": "t1", "name": "write", "arguments": "{\"path\":\"a.c\"}", "status": "completed" },
                { "type": "function_call_output", "call_id": "t1", "output": "No." },
                { "type": "custom_tool_call", "call_id": "t2", "name": "apply_patch", "input": "*** Begin" },
                { "type": "custom_tool_call_output", "call_id": "t2", "output": "Not run." },
            ]),
        );
        assert_eq!(
            with_results(Dialect::Completions, b"{\"prompt\": \"a\"}", "", &one),
            None
        );
    }
}
