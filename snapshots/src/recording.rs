//! Sessions of real clients as they were recorded: `agents/README.md` says what the lines hold.

use serde_json::{Map, Value};
use tslp_core::message::ToolCall;

/// The workspace in every recording.
pub const ROOT: &str = "/workspace/project";

/// One session.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The requests with their replies, in order.
    pub steps: Vec<RecordedStep>,
}

/// One request with its reply.
#[derive(Clone, Debug)]
pub struct RecordedStep {
    /// The new texts of files that changed on disk since the request before; `None` for deleted ones.
    pub files: Vec<(String, Option<String>)>,
    /// Files that the client writes before the reply is over.
    pub written: Vec<(String, Option<String>)>,
    /// The request's body.
    pub body: Vec<u8>,
    /// The text of the reply.
    pub text: String,
    /// The reply's tool calls.
    pub calls: Vec<ToolCall>,
    /// The changes that the reply makes.
    pub edits: Vec<RecordedEdit>,
}

/// One change that a reply makes.
#[derive(Clone, Debug)]
pub struct RecordedEdit {
    /// The changed entities, as `PATH::SYMBOL`.
    pub entities: Vec<String>,
    /// Whether it leaves nothing out.
    pub is_healthy: bool,
}

/// Reads a recording.
///
/// # Panics
/// When the text isn't a recording.
#[must_use]
pub fn read(text: &str) -> Recording {
    let mut reader = RecordingReader::default();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("each line is JSON");
        reader.read_row(&row);
    }
    Recording {
        steps: reader.steps,
    }
}

#[derive(Default)]
struct RecordingReader {
    texts: Vec<String>,
    fields: Vec<Value>,
    messages: Vec<Value>,
    files: Vec<(String, Option<String>)>,
    body: Vec<u8>,
    steps: Vec<RecordedStep>,
}

impl RecordingReader {
    fn read_row(&mut self, row: &Value) {
        match string(&row["kind"]).as_str() {
            "head" => {
                assert_eq!(row["format"], "tslp-agents", "the recording's format");
                assert_eq!(row["version"], 1, "the recording's version");
            }
            "text" => self.texts.push(self.long_text(row)),
            "fields" => self.fields.push(self.with_long_texts(&row["fields"])),
            "message" => self.messages.push(self.with_long_texts(&row["message"])),
            "files" => {
                let files = self.with_long_texts(&row["files"]);
                let files = files.as_object().expect("files by path").iter();
                self.files = files
                    .map(|(path, text)| (path.clone(), text.as_str().map(str::to_owned)))
                    .collect();
            }
            "request" => self.body = self.body_of(row),
            "reply" => self.steps.push(RecordedStep {
                files: std::mem::take(&mut self.files),
                written: Vec::new(),
                body: std::mem::take(&mut self.body),
                text: string(&row["text"]),
                calls: array(&row["calls"]).iter().map(tool_call).collect(),
                edits: array(&row["edits"]).iter().map(recorded_edit).collect(),
            }),
            other => panic!("a line of kind {other}"),
        }
    }

    fn long_text(&self, row: &Value) -> String {
        let text = string(&row["text"]);
        let Some(like) = row.get("like") else {
            return text;
        };
        let like = &self.texts[number(like)];
        let (head, tail) = (number(&row["head"]), number(&row["tail"]));
        let length = like.chars().count();
        let head: String = like.chars().take(head).collect();
        let tail: String = like.chars().skip(length - tail).collect();
        head + &text + &tail
    }

    /// The value with references to long texts replaced by them.
    fn with_long_texts(&self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => match fields.get("text").and_then(Value::as_u64) {
                Some(_) if fields.len() == 1 => {
                    Value::String(self.texts[number(&fields["text"])].clone())
                }
                _ => {
                    let fields = fields.iter();
                    let fields =
                        fields.map(|(name, value)| (name.clone(), self.with_long_texts(value)));
                    Value::Object(fields.collect())
                }
            },
            Value::Array(values) => values
                .iter()
                .map(|value| self.with_long_texts(value))
                .collect(),
            other => other.clone(),
        }
    }

    fn body_of(&self, row: &Value) -> Vec<u8> {
        let fields = &self.fields[number(&row["fields"])];
        let mut body: Map<String, Value> = fields.as_object().expect("a request's fields").clone();
        let messages = array(&row["messages"]).iter();
        let messages = messages.map(|message| self.messages[number(message)].clone());
        body.insert("messages".into(), messages.collect());
        Value::Object(body).to_string().into_bytes()
    }
}

fn tool_call(value: &Value) -> ToolCall {
    ToolCall {
        id: String::new(),
        name: string(&value["name"]),
        arguments: string(&value["arguments"]),
    }
}

fn recorded_edit(value: &Value) -> RecordedEdit {
    RecordedEdit {
        entities: array(&value["entities"]).iter().map(string).collect(),
        is_healthy: value["healthy"].as_bool().expect("healthy or not"),
    }
}

fn string(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn number(value: &Value) -> usize {
    let number = value.as_u64().expect("a number");
    usize::try_from(number).expect("a small number")
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_replaced() {
        let recording = read(concat!(
            r#"{"kind":"head","format":"tslp-agents","version":1,"client":"x","session":"c"}"#,
            "\n",
            r#"{"kind":"text","id":0,"text":"äbcdef"}"#,
            "\n",
            r#"{"kind":"text","id":1,"like":0,"head":2,"tail":1,"text":"-"}"#,
            "\n",
            r#"{"kind":"files","files":{"a.c":{"text":1},"b.c":null}}"#,
            "\n",
            r#"{"kind":"fields","id":0,"fields":{"model":"m"}}"#,
            "\n",
            r#"{"kind":"message","id":0,"message":{"role":"user","content":[{"type":"text","text":{"text":0}}]}}"#,
            "\n",
            r#"{"kind":"request","fields":0,"messages":[0,0]}"#,
            "\n",
            r#"{"kind":"reply","text":"t","calls":[{"id":"1","name":"n","arguments":"{}"}],"edits":[{"entities":["a.c::f"],"healthy":true}]}"#,
        ));
        let [step] = recording.steps.as_slice() else {
            panic!("one step: {recording:?}");
        };
        let files = [("a.c".into(), Some("äb-f".into())), ("b.c".into(), None)];
        assert_eq!(step.files, files);
        let body: Value = serde_json::from_slice(&step.body).unwrap();
        assert_eq!(body["model"], "m");
        assert_eq!(body["messages"][1]["content"][0]["text"], "äbcdef");
        assert_eq!(step.calls[0].name, "n");
        assert_eq!(step.edits[0].entities, ["a.c::f"]);
    }
}
