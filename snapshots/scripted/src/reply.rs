//! A reply as data: what is said, what is odd about it, and where it ends. README.md has examples.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One reply of a model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// What is said.
    pub text: String,
    /// What is thought before it.
    pub thoughts: String,
    /// What is called after it.
    pub calls: Vec<Call>,
    /// Why it ends, in the dialect's word; by default what its calls ask for. An empty one is left out.
    pub finish: Option<String>,
    /// Tokens read and written. The server tells them in a stream of OpenAI's only if the request asks for it.
    pub usage: Option<[u64; 2]>,
    /// The model's name.
    pub model: Option<String>,
    /// What makes its ids differ from those of other replies.
    pub number: u64,
    /// Characters of a stream's piece; by default 24.
    pub piece: Option<usize>,
    /// Names of tools whose input is a text (Responses' custom tools).
    pub custom: Vec<String>,
    /// What is odd about its events, or about the whole body, which is event 0.
    pub odd: Vec<Odd>,
    /// The status; by default 200.
    pub status: Option<u16>,
    /// More fields of the head; one of a known name replaces it, and an empty one is left out.
    pub head: Vec<(String, String)>,
    /// The body, as it is, in the place of all that was said.
    pub body: Option<String>,
    /// How the body is encoded.
    pub encoding: Encoding,
    /// Milliseconds before its first byte.
    pub wait: u64,
    /// Milliseconds between two events.
    pub delay: u64,
    /// Where the connection ends.
    pub end: End,
}

/// One call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments: a text is sent as it is.
    pub arguments: Value,
    /// Its id; by default `call_` and its number.
    pub id: Option<String>,
    /// Its index; by default its number.
    pub index: Option<u64>,
}

impl Call {
    /// A call with these arguments.
    #[must_use]
    pub fn new(name: &str, arguments: Value) -> Self {
        Self {
            name: name.to_owned(),
            arguments,
            ..Self::default()
        }
    }

    /// The arguments as a text.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            arguments => arguments.to_string(),
        }
    }
}

/// A change of some events of a stream, or of a whole body.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Odd {
    /// The event, from 0; all of them if none is named. From the end if it is negative.
    pub event: Option<i64>,
    /// A field by its JSON pointer, of events that have it (or its parent, where one is set).
    #[serde(default)]
    pub field: String,
    /// What happens.
    #[serde(flatten)]
    pub change: Change,
}

/// What happens to an event.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The field has this value.
    Set(Value),
    /// The field isn't there.
    Drop(bool),
    /// The field is there a second time, first with this value.
    Twice(Value),
    /// These bytes stand in the event's place, whatever they are.
    Bytes(String),
    /// These bytes come before the event.
    Before(String),
    /// This is replaced by that in the event's bytes.
    Replace(String, String),
    /// The event's data is cut into lines of their own.
    Lines(usize),
}

/// How a body is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Not at all.
    #[default]
    Plain,
    /// By gzip, and says so.
    Gzip,
    /// By deflate, and says so.
    Deflate,
    /// It begins with a byte order mark.
    Mark,
}

/// Where the connection ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// After all of it; it stays open.
    #[default]
    Whole,
    /// Closed after so many bytes of the body.
    Close(usize),
    /// Reset after so many bytes of the body.
    Reset(usize),
    /// Nothing follows after so many bytes of the body, and it stays open.
    Silent(usize),
}

impl Reply {
    /// A reply that says this.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// With calls.
    #[must_use]
    pub fn calling(mut self, calls: impl IntoIterator<Item = Call>) -> Self {
        self.calls.extend(calls);
        self
    }

    /// With tokens read and written.
    #[must_use]
    pub const fn costing(mut self, read: u64, written: u64) -> Self {
        self.usage = Some([read, written]);
        self
    }

    /// In pieces of so many characters.
    #[must_use]
    pub const fn in_pieces(mut self, characters: usize) -> Self {
        self.piece = Some(characters);
        self
    }

    /// Ends for this reason; an empty one is left out.
    #[must_use]
    pub fn ending(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// A body that is none of the dialect's, with a status.
    #[must_use]
    pub fn raw(status: u16, body: impl Into<String>) -> Self {
        Self {
            status: Some(status),
            body: Some(body.into()),
            ..Self::default()
        }
    }
}
