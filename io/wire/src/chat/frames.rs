//! What a body consists of: server-sent events, as the WHATWG standard reads them and some servers bend it, lines of JSON, or one
//! value.

use serde_json::Value;

use super::dialect::Dialect;
use super::lenient::value_of;
use crate::http::response::ResponseHead;

/// What a text may begin with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The form of a body, recognised by its first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyForm {
    /// Nothing came yet.
    #[default]
    Unknown,
    /// Server-sent events, or what is no JSON.
    Events,
    /// A value in each line.
    JsonLines,
    /// One JSON value.
    Whole,
}

impl BodyForm {
    /// By what a response says of itself.
    #[must_use]
    pub fn of_head(head: &ResponseHead) -> Self {
        if head.is_of_type("text/event-stream") {
            Self::Events
        } else if head.is_of_type("application/x-ndjson") {
            Self::JsonLines
        } else {
            Self::Whole
        }
    }

    /// What ends that which the model server left half-said. Clients of JSON lines read each one, and take none that is blank.
    #[must_use]
    pub const fn gap(self) -> &'static [u8] {
        match self {
            Self::Events => b"\n\n",
            Self::JsonLines | Self::Whole | Self::Unknown => b"",
        }
    }

    /// Whether it comes piece by piece, so that an error can be said in it.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::Events | Self::JsonLines)
    }
}

/// An event, a line, or a whole body.
#[derive(Debug)]
pub(super) struct Frame {
    /// Its bytes as they came, with what separates it from the next one.
    pub(super) bytes: Vec<u8>,
    /// The event's name; empty if it has none.
    pub(super) name: String,
    pub(super) data: FrameData,
}

/// What a frame says.
#[derive(Debug, Default, PartialEq)]
pub(super) enum FrameData {
    /// Nothing: a comment, or what separates frames.
    #[default]
    Nothing,
    Value(Value),
    /// `[DONE]`.
    Done,
    /// What no client could read.
    Unread,
    /// The bare line of JSON with which Ollama ends a broken stream of events.
    Error(String),
}

/// Takes a body apart, in pieces of any size.
#[derive(Debug, Default)]
pub(super) struct Frames {
    form: BodyForm,
    /// Whether the dialect's streams have a value in each line.
    has_lines: bool,
    /// Whether the server says that its body is one value.
    is_one_value: bool,
    /// The frame that isn't whole yet.
    bytes: Vec<u8>,
    /// Where its first line that isn't read yet begins.
    line_at: usize,
    /// Whether the last line ended with a CR, to which an LF may belong.
    after_cr: bool,
    name: String,
    data: FrameData,
    /// Data that isn't whole yet: it may come in several lines.
    open_data: Vec<u8>,
    /// Whether the frame has any line that isn't blank.
    has_words: bool,
    /// Whether a line was read.
    is_begun: bool,
}

impl Frames {
    /// Of a body in this dialect.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            has_lines: dialect.streams_json_lines(),
            ..Self::default()
        }
    }

    /// The server says that its body is one value.
    pub(super) const fn expect_one_value(&mut self) {
        self.is_one_value = true;
    }

    pub(super) const fn form(&self) -> BodyForm {
        self.form
    }

    /// Bytes of a frame that isn't whole.
    pub(super) const fn waiting_bytes(&self) -> usize {
        self.bytes.len() + self.open_data.len()
    }

    /// The frame that isn't whole, as far as it came.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes more bytes; returns the frames that are whole with them.
    pub(super) fn push(&mut self, more: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        self.bytes.extend_from_slice(more);
        if self.form == BodyForm::Unknown {
            self.form = form_of(self.has_lines && !self.is_one_value, &self.bytes);
        }
        if !self.form.is_stream() {
            return frames;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let (mut from, mut at) = (0, self.line_at);
        while let Some(length) = memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
            let end = at + length;
            let is_rest_of_crlf = self.after_cr && length == 0 && bytes[end] == b'\n';
            let next = match &bytes[end..] {
                [b'\r', b'\n', ..] => end + 2,
                _ => end + 1,
            };
            self.after_cr = bytes[end..] == *b"\r";
            if !is_rest_of_crlf {
                let line = &bytes[at..end];
                if self.begins_frame(line) {
                    frames.extend(self.frame_of(&bytes[from..at]));
                    from = at;
                }
                if self.read_line(line) {
                    frames.extend(self.frame_of(&bytes[from..next]));
                    from = next;
                }
            }
            at = next;
        }
        self.line_at = at - from;
        bytes.drain(..from);
        self.bytes = bytes;
        frames
    }

    /// Nothing more comes: returns what is left. Not every server ends its last line.
    pub(super) fn end(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        let bytes = std::mem::take(&mut self.bytes);
        if self.form.is_stream() {
            let (before, line) = bytes.split_at(std::mem::take(&mut self.line_at));
            let is_next = self.begins_frame(line);
            if is_next {
                frames.extend(self.frame_of(before));
            }
            self.read_line(line);
            frames.extend(self.frame_of(if is_next { line } else { &bytes }));
            return frames;
        }
        if self.form == BodyForm::Whole {
            self.data = value_of(&bytes).map_or(FrameData::Unread, FrameData::Value);
        }
        if self.data == FrameData::Unread && std::mem::take(&mut self.has_lines) {
            // Whatever the server says, it sends lines.
            (self.form, self.data) = (BodyForm::JsonLines, FrameData::Nothing);
            frames = self.push(&bytes);
            frames.extend(self.end());
            return frames;
        }
        frames.extend(self.frame_of(&bytes));
        frames
    }

    fn frame_of(&mut self, bytes: &[u8]) -> Option<Frame> {
        let open = std::mem::take(&mut self.open_data);
        if !open.is_empty() {
            self.data = value_of(&open).map_or(FrameData::Unread, FrameData::Value);
        }
        self.has_words = false;
        let frame = Frame {
            bytes: bytes.to_vec(),
            name: std::mem::take(&mut self.name),
            data: std::mem::take(&mut self.data),
        };
        (!bytes.is_empty()).then_some(frame)
    }

    /// Whether a line begins another event although no blank one ended the last: not every server writes them.
    fn begins_frame(&self, line: &[u8]) -> bool {
        self.data != FrameData::Nothing
            && (line.starts_with(b"data:") || line.starts_with(b"event:"))
    }

    /// Reads a line; whether the frame ends with it.
    fn read_line(&mut self, line: &[u8]) -> bool {
        // The standard of event streams lets one begin with a byte order mark.
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let marked = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first);
        let line = marked.unwrap_or(line);
        if self.form == BodyForm::JsonLines {
            let value = line.trim_ascii();
            if value.is_empty() {
                return false;
            }
            self.data = value_of(value).map_or(FrameData::Unread, FrameData::Value);
            return true;
        }
        if line.is_empty() {
            return self.has_words;
        }
        self.has_words = true;
        if let Some(name) = line.strip_prefix(b"event:") {
            self.name = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        } else if let Some(data) = line.strip_prefix(b"data:") {
            self.read_data(data.trim_ascii());
        } else if line.starts_with(b"{\"error\"") {
            self.data = FrameData::Error(String::from_utf8_lossy(line).into_owned());
        }
        false
    }

    fn read_data(&mut self, data: &[u8]) {
        if data == b"[DONE]" {
            self.data = FrameData::Done;
        } else if !data.is_empty() {
            if self.open_data.is_empty()
                && let Some(value) = value_of(data)
            {
                self.data = FrameData::Value(value);
                return;
            }
            self.open_data.extend_from_slice(data);
            self.open_data.push(b'\n');
        }
    }
}

/// A stream of events never begins with a brace.
fn form_of(has_lines: bool, bytes: &[u8]) -> BodyForm {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => BodyForm::Unknown,
        Some(_) if BYTE_ORDER_MARK.starts_with(bytes) => BodyForm::Unknown,
        Some(_) if has_lines => BodyForm::JsonLines,
        Some(b'{') => BodyForm::Whole,
        Some(_) => BodyForm::Events,
    }
}
