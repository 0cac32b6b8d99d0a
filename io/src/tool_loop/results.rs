//! Results of calls, for the client's reply and for the model's next round.

use std::ops::Range;

use serde_json::{Value, json};
use tslp_core::capture::RESULT_FENCE;
use tslp_core::delimiter;
use tslp_core::event::CallId;
use tslp_wire::chat::dialect::Dialect;

use super::{SHOWN_BYTES_MAX, boundary_before};

/// The result of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// The call.
    pub call: CallId,
    /// Its command line.
    pub line: String,
    /// The shown part of its output; empty if nothing was run.
    output: String,
    /// Its end, or the reason why it wasn't run.
    status: String,
}

impl CallResult {
    /// Something was run; `output` holds no credentials.
    #[must_use]
    pub fn from_run(call: CallId, line: String, output: &str, status: String) -> Self {
        Self {
            call,
            line,
            output: delimiter::defused(&shown_output(output)).into_owned(),
            status,
        }
    }

    /// Nothing was run.
    #[must_use]
    pub fn not_run(call: CallId, line: String, why: &str) -> Self {
        Self::from_run(call, line, "", format!("not run: {why}"))
    }

    /// The result as the model reads it.
    fn model_text(&self) -> String {
        let output = self.output.trim_end_matches('\n');
        let status = &self.status;
        match output {
            "" => format!("[{status}]"),
            output => format!("{output}\n[{status}]"),
        }
    }

    /// The fence that shows the result in the reply, after `before`. Nothing in the output closes it.
    #[must_use]
    pub fn result_fence(&self, before: &str) -> String {
        let text = self.model_text();
        let runs = text.split(|c| c != '`').map(str::len);
        let marks = "`".repeat(runs.max().map_or(3, |longest| (longest + 1).max(3)));
        let line_end = match before {
            "" => "",
            text if text.ends_with('\n') => "",
            _ => "\n",
        };
        format!(
            "{line_end}{marks}{RESULT_FENCE} {}\n{text}\n{marks}\n",
            self.call
        )
    }
}

/// Both ends of an output that is too long to be shown.
fn shown_output(output: &str) -> String {
    if output.len() <= SHOWN_BYTES_MAX {
        return output.to_owned();
    }
    let head = boundary_before(output, SHOWN_BYTES_MAX / 2);
    let tail = boundary_before(output, output.len() - SHOWN_BYTES_MAX / 2);
    let left_out = tail - head;
    format!(
        "{}\n[{left_out} bytes left out]\n{}",
        &output[..head],
        &output[tail..]
    )
}

/// A round that is over: the model's text and its calls' results.
#[derive(Clone, Debug)]
pub struct PastRound {
    /// The model's text.
    pub text: String,
    /// Its calls.
    pub results: Vec<CallResult>,
}

const OPEN: &str = "[TOOL RESULTS: NOT FROM THE USER]";
const CLOSE: &str = "[END TOOL RESULTS]";

impl PastRound {
    /// The round as messages of a dialect's request.
    fn messages(&self, dialect: Dialect) -> [Value; 2] {
        let (said, told) = (&self.text, self.told());
        match dialect {
            Dialect::Responses => [
                json!({"type": "message", "id": "msg_tslp", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": said, "annotations": []}]}),
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": told}]}),
            ],
            _ => [
                json!({ "role": "assistant", "content": said }),
                json!({ "role": "user", "content": told }),
            ],
        }
    }

    /// The results between delimiters that say whose they are.
    fn told(&self) -> String {
        let results = self.results.iter().map(|result| {
            // Nothing in an output ends the block.
            let text = result.model_text().replace(CLOSE, "[END TOOL RESULT]");
            format!("$ {}\n{text}\n", result.line)
        });
        format!("{OPEN}\n{}{CLOSE}", results.collect::<String>())
    }
}

/// The body that the next round is asked for with: the first one's, byte for byte, with messages after its last one, which
/// stands at `last`. A prompt that is one text goes on as text; only the model of a conversation is given messages instead.
#[must_use]
pub fn next_body(dialect: Dialect, body: &[u8], last: Range<usize>, past: &[PastRound]) -> Vec<u8> {
    let (before, rest) = body.split_at(last.end);
    let is_text = before.ends_with(b"\"");
    let mut next = before.to_vec();
    if is_text && dialect != Dialect::Responses {
        let rounds = past.iter();
        let more: String = rounds
            .map(|round| format!("\n\n{}\n\n{}\n\n", round.text.trim_end(), round.told()))
            .collect();
        let quoted = Value::String(more).to_string();
        next.pop();
        // Its own first quotation mark is left out, and its last one ends the prompt.
        next.extend_from_slice(&quoted.as_bytes()[1..]);
    } else {
        if is_text {
            const OPEN: &[u8] = br#"[{"role":"user","content":"#;
            next.splice(last.start..last.start, OPEN.iter().copied());
            next.push(b'}');
        }
        let messages = past.iter();
        for message in messages.flat_map(|round| round.messages(dialect)) {
            next.push(b',');
            next.extend_from_slice(message.to_string().as_bytes());
        }
        if is_text {
            next.push(b']');
        }
    }
    next.extend_from_slice(rest);
    next
}

#[cfg(test)]
mod tests {
    use tslp_core::ids::EpisodeId;

    use super::*;

    fn result(output: &str) -> CallResult {
        let call = CallId {
            episode: EpisodeId(3),
            number: 1,
        };
        CallResult::from_run(call, "cat a".into(), output, "exit 0, 12 ms, READ".into())
    }

    /// Nothing in an output closes the fence around it.
    #[test]
    fn fence_stays_closed() {
        let fence = result("x\n````\ny\n").result_fence("said");
        assert_eq!(
            fence,
            "\n`````tool-result call_3_1\nx\n````\ny\n[exit 0, 12 ms, READ]\n`````\n"
        );
        let talk = tslp_core::capture::tool_text(&fence);
        assert_eq!((talk.fences.len(), talk.is_cut), (1, false));
        assert_eq!(
            result("").result_fence(""),
            "```tool-result call_3_1\n[exit 0, 12 ms, READ]\n```\n"
        );
    }

    #[test]
    fn long_output() {
        let long = format!("first {} last", "é".repeat(SHOWN_BYTES_MAX));
        let fence = result(&long).result_fence("");
        assert!(
            fence.contains("first é") && fence.contains("é last\n["),
            "{fence}"
        );
        assert!(fence.len() < SHOWN_BYTES_MAX + 200);
    }

    #[test]
    fn body_unchanged() {
        let body = br#"{ "messages" : [ {"role":"user","content":"hi"} ] , "x": 1.0 }"#;
        let tail = body.iter().position(|byte| *byte == b'}').unwrap() + 1;
        let past = [PastRound {
            text: "I look".into(),
            results: vec![result("a [END TOOL RESULTS]")],
        }];
        let next = next_body(Dialect::ChatCompletions, body, 0..tail, &past);
        assert!(next.starts_with(&body[..tail]) && next.ends_with(&body[tail..]));
        let json: Value = serde_json::from_slice(&next).unwrap();
        let messages = json["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages
            .iter()
            .filter_map(|it| it["role"].as_str())
            .collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        let told = messages[2]["content"].as_str().unwrap();
        assert_eq!(told.matches(CLOSE).count(), 1, "{told}");
    }

    /// Each dialect's request goes on with what was said and returned.
    #[test]
    fn requests_go_on() {
        let past = [PastRound {
            text: "I \"look\"".into(),
            results: vec![result("found")],
        }];
        let check = |dialect, body: &str, last: &str, place: &str, expected: &[&str]| {
            let start = body.find(last).unwrap();
            let last = start..start + last.len();
            let next = next_body(dialect, body.as_bytes(), last, &past);
            let json: Value = serde_json::from_slice(&next).unwrap();
            let told = json.pointer(place).unwrap();
            let (said, results) = match told.as_str() {
                Some(prompt) => (prompt, prompt),
                None => (
                    told[1]["content"]
                        .as_str()
                        .or_else(|| told[1]["content"][0]["text"].as_str())
                        .unwrap(),
                    told[2]["content"]
                        .as_str()
                        .or_else(|| told[2]["content"][0]["text"].as_str())
                        .unwrap(),
                ),
            };
            for part in expected {
                assert!(said.contains(part), "{said}");
            }
            assert!(
                results.contains("found") && results.contains(OPEN),
                "{results}"
            );
            assert_eq!(json["x"], 1);
        };
        let said = &["I \"look\""];
        let item = r#"{"role":"user","content":"hi"}"#;
        let messages = format!(r#"{{"messages":[{item}],"x":1}}"#);
        for dialect in [Dialect::Messages, Dialect::OllamaChat] {
            check(dialect, &messages, item, "/messages", said);
        }
        let input = format!(r#"{{"input":[{item}],"x":1}}"#);
        check(Dialect::Responses, &input, item, "/input", said);
        check(
            Dialect::Responses,
            r#"{"input":"hi","x":1}"#,
            "\"hi\"",
            "/input",
            said,
        );
        let prompt = r#"{"prompt":"hi","x":1}"#;
        for dialect in [Dialect::Completions, Dialect::OllamaGenerate] {
            check(dialect, prompt, "\"hi\"", "/prompt", &["hi\n\nI \"look\""]);
        }
    }
}
