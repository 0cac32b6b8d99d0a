//! Why a body is no chat request.

/// The reason why a body is no chat request, for the person whose client sent it.
#[derive(Debug, thiserror::Error)]
pub enum BadRequest {
    /// Not JSON, or not an object.
    #[error("the request body is not a JSON object of a chat request: {0}")]
    Json(serde_json::Error),
    /// No messages.
    #[error("`{0}` must be a non-empty array")]
    NoMessages(&'static str),
    /// A message that isn't one.
    #[error("`{field}[{index}]` is not a chat message: {error}")]
    Message {
        /// The field that holds the messages.
        field: &'static str,
        /// The message's index.
        index: usize,
        /// The parser's error.
        error: serde_json::Error,
    },
    /// More messages, texts and tool calls than any conversation has.
    #[error(
        "the request has more than {PIECES_MAX} messages, text parts and tool calls together, each of which takes memory however short it is; start a new conversation"
    )]
    TooMany,
    /// A field occurs twice, so two readers could see different requests.
    #[error("the field `{0}` occurs twice in the request body")]
    Twice(String),
}

/// Messages, text parts and tool calls of one request. Each takes up to a kilobyte in addition to its bytes.
pub(super) const PIECES_MAX: usize = 8192;
