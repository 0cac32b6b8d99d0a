//! The built-in model server (`--upstream demo`): deterministic, local, speaks OpenAI chat completions.

mod script;

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tslp_scripted::{Answer, Reply, Request, Server};
use tslp_wire::chat::dialect::Dialect;

/// Characters of a streamed piece: about a token.
const PIECE: usize = 6;

/// Starts it on loopback, with this pause between two tokens; it ends with what is returned.
pub fn start(delay: Duration) -> io::Result<Server> {
    Server::start(move |request| answer(&request, delay))
}

fn answer(request: &Request, delay: Duration) -> Answer {
    if request.line.starts_with("GET ") && request.path() == "/v1/models" {
        let model = json!({"id": "tslp-demo", "object": "model", "created": 0, "owned_by": "tslp"});
        return Answer::json(200, &json!({"object": "list", "data": [model]}));
    }
    if request.dialect() != Some(Dialect::ChatCompletions) {
        return Answer::json(404, &error_json("the demo model has no such route"));
    }
    let asked = request.json();
    if asked.is_null() {
        return Answer::json(400, &error_json("the body is not JSON"));
    }
    let text = script::answer_request(&asked);
    let streams = request.streams();
    // Words stand in for tokens.
    let (read, written) = (request.body.len() / 4, text.split_whitespace().count());
    let reply = Reply {
        model: Some("tslp-demo".into()),
        delay: if streams { delay.as_millis() as u64 } else { 0 },
        ..Reply::text(text)
            .in_pieces(PIECE)
            .costing(read as u64, written as u64)
    };
    reply.into()
}

fn error_json(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
}
