//! A request whose reply is asked for once more: the same prompt, with a remark at its end, at temperature 0.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;

/// The request's body with a remark after all that it says; `None` if it holds no prompt that could go on. What a model server has
/// read of the prompt stays as it is.
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
}
