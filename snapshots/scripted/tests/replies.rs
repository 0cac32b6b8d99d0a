//! What is sent is what the script says, in every dialect and form.
#![allow(
    clippy::unwrap_used,
    reason = "a test helper that fails is a test that fails"
)]

use serde_json::{Value, json};
use tslp_scripted::{Call, Connection, Prompt, Reply, Response, Server, Turn, encoded};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReplyDecoder;

fn forms() -> impl Iterator<Item = (Dialect, bool)> {
    let all = Dialect::ALL.into_iter();
    all.flat_map(|dialect| [(dialect, false), (dialect, true)])
}

fn body(dialect: Dialect, streams: bool, reply: &Reply) -> Vec<u8> {
    encoded(dialect, streams, reply).1.concat()
}

fn from_json(reply: Value) -> Reply {
    serde_json::from_value(reply).unwrap()
}

#[test]
fn every_form() {
    let call = Call::new("read", json!({"path": "src/ä.c"}));
    let reply = Reply::text("Let me look at it: \u{1f600}, once.").calling([call]);
    let reply = Reply {
        thoughts: "Hm, hm.".into(),
        ..reply
    }
    .costing(7, 5)
    .in_pieces(3);
    for (dialect, streams) in forms() {
        let mut decoder = ReplyDecoder::new(dialect);
        let mut text = decoder.push(&body(dialect, streams, &reply)).text;
        text += &decoder.end_message().text;
        assert_eq!(text, reply.text, "{dialect:?} {streams}");
        assert!(decoder.is_finished(), "{dialect:?} {streams}");
        let usage = decoder.server_usage().unwrap();
        assert_eq!(
            (usage.prompt_tokens, usage.completion_tokens),
            (Some(7), Some(5)),
            "{dialect:?}"
        );
        let calls = decoder.read_reply().calls;
        if !dialect.is_bare_prompt() {
            let calls: Vec<_> = calls
                .iter()
                .map(|(_, it)| (&*it.name, &*it.arguments))
                .collect();
            assert_eq!(
                calls,
                [("read", r#"{"path":"src/ä.c"}"#)],
                "{dialect:?} {streams}"
            );
        }
    }
}

#[test]
fn oddities() {
    let odd = |odd: Value| {
        let reply = from_json(
            json!({"text": "Hi.", "calls": [{"name": "f", "arguments": {}}], "odd": odd}),
        );
        String::from_utf8(body(Dialect::ChatCompletions, true, &reply)).unwrap()
    };
    let index = "/choices/0/delta/tool_calls/0/index";
    assert!(odd(json!([{"field": index, "set": "0"}])).contains(r#""tool_calls":[{"index":"0","#));
    assert!(!odd(json!([{"field": index, "drop": true}])).contains(r#""tool_calls":[{"index""#));
    let twice = odd(json!([{"field": index, "twice": 4}]));
    assert!(twice.contains(r#"{"index":4,"index":0,"#), "{twice}");
    assert!(odd(json!([{"event": 1, "bytes": "data: {oh no\n\n"}])).contains("data: {oh no\n\n"));
    assert!(
        odd(json!([{"event": -1, "before": ": ping\n\n"}])).ends_with(": ping\n\ndata: [DONE]\n\n")
    );
    assert!(
        odd(json!([{"event": 1, "replace": ["Hi.", "\\ud83d"]}])).contains(r#""content":"\ud83d""#)
    );
    assert!(odd(json!([{"event": 1, "lines": 3}])).contains(",\ndata: \"object\""));
}

/// What one request is answered with by a server that has this reply.
fn answer(reply: Reply, dialect: Dialect, streams: bool) -> Response {
    let server = Server::start(move |_| reply.clone().into()).unwrap();
    let mut client = Connection::connect(server.address());
    let request = Prompt::user("Hello?")
        .streaming(streams)
        .body(dialect)
        .to_string();
    client.send("POST", dialect.route_path(), &[], request.as_bytes());
    client.response()
}

#[test]
fn ends() {
    let reply = from_json(json!({"text": "A long text, in pieces.", "end": {"close": 60}}));
    for (dialect, streams) in forms() {
        let whole = body(dialect, streams, &reply);
        let cut = answer(reply.clone(), dialect, streams);
        assert_eq!(
            (cut.whole, &cut.body[..]),
            (false, &whole[..60]),
            "{dialect:?} {streams}"
        );
        let sent = Reply {
            end: Default::default(),
            ..reply.clone()
        };
        let sent = answer(sent, dialect, streams);
        assert_eq!(
            (sent.whole, sent.body),
            (true, whole),
            "{dialect:?} {streams}"
        );
    }
    let gzip = answer(
        from_json(json!({"text": "Hi.", "encoding": "gzip"})),
        Dialect::Messages,
        false,
    );
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    assert_eq!(gzip.body[..2], [0x1f, 0x8b]);
    let refused = answer(Reply::raw(429, "slow down"), Dialect::Messages, true);
    assert_eq!((refused.status(), &*refused.text()), (429, "slow down"));
}

#[test]
fn prompts() {
    let prompt = Prompt {
        system: "Be brief.".into(),
        ..Prompt::user("Look.")
    }
    .offering("read", &["path"])
    .then(Turn::Model(
        "I look.".into(),
        vec![Call::new("read", json!({"path": "a.c"}))],
    ))
    .then(Turn::Result(0, "int a;".into()))
    .then(Turn::User("And?".into()));
    for dialect in Dialect::ALL {
        let body = prompt.body(dialect).to_string();
        for part in ["Look.", "I look.", "int a;", "And?"] {
            assert!(body.contains(part), "{dialect:?}: {body}");
        }
        let tools = !dialect.is_bare_prompt();
        assert_eq!(body.contains("\"path\""), tools, "{dialect:?}: {body}");
    }
}
