//! The six dialects: how a client asks in each.

use serde_json::{Value, json};

use crate::harness::{JSON, Tslp};
use crate::upstream::Upstream;
use tslp_scripted::Response;

/// One dialect: its route, a request with one text of the user's, and a conversation in which a tool was
/// called and has returned something, where the dialect has tools.
pub(crate) struct Spoken {
    pub(crate) path: &'static str,
    pub(crate) request: fn(&str) -> Value,
    pub(crate) with_result: Option<fn(&str, &Value, &str) -> Value>,
}

pub(crate) const SPOKEN: [Spoken; 6] = [
    Spoken {
        path: "/v1/chat/completions",
        request: |text| json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]}),
        with_result: Some(|name, arguments, result| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"model": "m", "tools": [{"type": "function", "function": {"name": name}}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "c1", "content": result}]})
        }),
    },
    Spoken {
        path: "/v1/messages",
        request: |text| {
            json!({"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
                "tools": [{"name": "Read", "input_schema": {}}],
                "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]})
        },
        with_result: Some(|name, arguments, result| {
            json!({"model": "m", "max_tokens": 9, "tools": [{"name": name, "input_schema": {}}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": arguments}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": result}]}]}]})
        }),
    },
    Spoken {
        path: "/v1/responses",
        request: |text| {
            json!({"model": "m", "instructions": "Be brief.", "tools": [{"type": "function", "name": "shell"}],
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]})
        },
        with_result: Some(|name, arguments, result| {
            json!({"model": "m", "tools": [{"type": "function", "name": name}], "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look at it."}]},
                {"type": "function_call", "call_id": "c1", "name": name, "arguments": arguments.to_string()},
                {"type": "function_call_output", "call_id": "c1", "output": result}]})
        }),
    },
    Spoken {
        path: "/v1/completions",
        request: |text| json!({"model": "m", "prompt": text}),
        with_result: None,
    },
    Spoken {
        path: "/api/chat",
        request: |text| {
            json!({"model": "m", "stream": false, "tools": [{"type": "function"}],
                "messages": [{"role": "user", "content": text}]})
        },
        with_result: Some(|name, arguments, result| {
            json!({"model": "m", "stream": false, "tools": [{"type": "function"}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]},
                {"role": "tool", "tool_name": name, "content": result}]})
        }),
    },
    Spoken {
        path: "/api/generate",
        request: |text| json!({"model": "m", "stream": false, "system": "Be brief.", "prompt": text}),
        with_result: None,
    },
];

impl Spoken {
    /// Sends a request; what the client got, and the body that the model server got.
    pub(crate) fn send(
        &self,
        tslp: &Tslp<'_>,
        upstream: &Upstream,
        request: &Value,
    ) -> (Response, String) {
        upstream.will_say("Done.");
        let response = tslp.request("POST", self.path, &[JSON], request.to_string().as_bytes());
        assert_eq!(response.status(), 200, "{}: {}", self.path, response.text());
        tslp.ended(response.episode());
        (response, upstream.next().text())
    }

    /// What a client without tools asks.
    fn chat(&self, text: &str) -> Value {
        let mut request = (self.request)(text);
        request.as_object_mut().unwrap().remove("tools");
        request
    }

    /// What the model server got of a client without tools.
    pub(crate) fn sent(&self, tslp: &Tslp<'_>, upstream: &Upstream, text: &str) -> String {
        self.send(tslp, upstream, &self.chat(text)).1
    }

    /// Sends a prompt that is refused so that no client asks again; what is said, as the dialect's clients read it.
    pub(crate) fn refused(&self, tslp: &Tslp<'_>, text: &str) -> String {
        let body = self.chat(text).to_string();
        let response = tslp.request("POST", self.path, &[JSON], body.as_bytes());
        assert_eq!(response.status(), 400, "{}: {}", self.path, response.text());
        let error = response.json();
        assert_eq!(
            error["type"] == "error",
            self.path == "/v1/messages",
            "{error}"
        );
        let message = match self.path.starts_with("/api/") {
            true => &error["error"],
            false => &error["error"]["message"],
        };
        message
            .as_str()
            .unwrap_or_else(|| panic!("{error}"))
            .to_owned()
    }
}
