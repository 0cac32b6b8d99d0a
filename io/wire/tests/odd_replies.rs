//! Replies as some servers send them: what a client would read of them is read, and calls are held under every reading.
#![allow(
    clippy::unwrap_used,
    reason = "a test helper that fails is a test that fails"
)]

use serde_json::{Value, json};
use tslp_scripted::{Reply, encoded};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReplyDecoder;
use tslp_wire::chat::reply_pipe::{CallRule, CallVerdict, PipeRules, ReplyPipe};

use Dialect::{ChatCompletions, Messages, OllamaChat, Responses};

const TWO: [(&str, &str); 2] = [
    ("bash", r#"{"command":"rm -rf ~"}"#),
    ("read", r#"{"path":"a.c"}"#),
];

fn calls() -> Value {
    let calls = TWO.map(|(name, arguments)| {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        json!({"name": name, "arguments": arguments, "id": format!("id_{name}")})
    });
    Value::from(calls.to_vec())
}

/// The bytes of a reply with an oddity.
fn bytes(dialect: Dialect, streams: bool, reply: Value) -> Vec<u8> {
    let reply: Reply = serde_json::from_value(reply).unwrap();
    encoded(dialect, streams, &reply).1.concat()
}

/// What is on record of a reply, the same in every split.
fn recorded(dialect: Dialect, bytes: &[u8]) -> (String, Vec<(String, String)>, bool) {
    let read = |split: usize| {
        let mut decoder = ReplyDecoder::new(dialect);
        let mut text = decoder.push(&bytes[..split]).text;
        text += &decoder.push(&bytes[split..]).text;
        text += &decoder.end_message().text;
        let is_finished = decoder.is_finished();
        let calls = decoder.read_reply().calls.into_iter();
        let calls = calls.map(|(_, it)| (it.name, it.arguments));
        (text, calls.collect(), is_finished)
    };
    let whole = read(0);
    for split in 1..bytes.len() {
        assert_eq!(read(split), whole, "split at {split}");
    }
    whole
}

/// What a client gets where calls of `bash` are denied, and which calls were judged.
fn held(dialect: Dialect, streams: bool, bytes: &[u8]) -> (String, Vec<String>) {
    passed(dialect, streams, bytes, CallRule::Complete)
}

/// The same by a rule.
fn passed(dialect: Dialect, streams: bool, bytes: &[u8], calls: CallRule) -> (String, Vec<String>) {
    passed_with_pause(dialect, streams, bytes, (calls, bytes.len()))
}

/// The same, and at some place nothing comes for so long that the rest is passed on.
fn passed_with_pause(
    dialect: Dialect,
    streams: bool,
    bytes: &[u8],
    (calls, pause_at): (CallRule, usize),
) -> (String, Vec<String>) {
    let rules = PipeRules {
        calls,
        ..PipeRules::default()
    };
    let mut pipe = ReplyPipe::new(dialect, rules);
    if !streams {
        pipe.expect_one_value();
    }
    let (mut got, mut judged) = (Vec::new(), Vec::new());
    let mut judge = |pipe: &mut ReplyPipe| {
        let mut out = Vec::new();
        for (number, call) in pipe.take_read().calls {
            judged.push(call.name.clone());
            let verdict = match call.name.contains("bash") || call.arguments.contains("rm -rf") {
                true => CallVerdict::Denied("kept back".into()),
                false => CallVerdict::Passes,
            };
            out.extend(pipe.call_judged(number, verdict));
        }
        out
    };
    let (before, after) = bytes.split_at(pause_at);
    for piece in before.chunks(7) {
        got.extend(pipe.push(piece));
        got.extend(judge(&mut pipe));
    }
    if !after.is_empty() {
        got.extend(pipe.pass_on());
    }
    for piece in after.chunks(7) {
        got.extend(pipe.push(piece));
        got.extend(judge(&mut pipe));
    }
    got.extend(pipe.end());
    got.extend(judge(&mut pipe));
    got.extend(pipe.last_bytes());
    (String::from_utf8_lossy(&got).into_owned(), judged)
}

fn passed_judged(dialect: Dialect, streams: bool, bytes: &[u8]) -> (String, Vec<String>) {
    passed(dialect, streams, bytes, CallRule::Judged)
}

/// Both calls are on record and judged, and no byte of the one that is denied goes on.
fn check_calls(dialect: Dialect, streams: bool, mut reply: Value, odd: Value) {
    reply["calls"] = calls();
    reply["odd"] = odd.clone();
    let bytes = bytes(dialect, streams, reply);
    let (_, recorded, is_finished) = recorded(dialect, &bytes);
    let expected = TWO.map(|(name, arguments)| (name.to_owned(), arguments.to_owned()));
    let what = String::from_utf8_lossy(&bytes);
    assert_eq!(recorded, expected, "{dialect:?} {odd}: {what}");
    assert!(is_finished, "{dialect:?} {odd}");
    let (got, judged) = passed(dialect, streams, &bytes, CallRule::Judged);
    assert_eq!(judged, ["bash", "read"], "{dialect:?} {odd}: {what}");
    let is_kept = !got.contains("rm -rf") && !got.contains("\"bash\"");
    assert!(is_kept && got.contains("a.c"), "{dialect:?} {odd}: {got}");
}

fn check_stream(dialect: Dialect, odd: Value) {
    check_calls(dialect, true, json!({}), odd);
}

#[test]
fn responses_without_index() {
    check_stream(Responses, json!([{"field": "/output_index", "drop": true}]));
    check_stream(
        Responses,
        json!([{"field": "/output_index", "drop": true}, {"field": "/item_id", "drop": true}]),
    );
    check_stream(Responses, json!([{"field": "/output_index", "set": null}]));
    check_stream(Responses, json!([{"field": "/output_index", "set": "x"}]));
    let names = [
        "created",
        "output_item.added",
        "function_call_arguments.delta",
        "output_item.done",
        "completed",
    ];
    let unnamed = names.map(|name| json!({"replace": [format!("event: response.{name}\n"), ""]}));
    check_stream(Responses, unnamed.to_vec().into());
}

#[test]
fn calls_under_one_index() {
    let index = "/choices/0/delta/tool_calls/0/index";
    check_stream(ChatCompletions, json!([{"field": index, "set": 0}]));
    let whole = json!({"piece": 1000});
    check_calls(
        ChatCompletions,
        true,
        whole.clone(),
        json!([{"field": index, "set": 7}]),
    );
    check_calls(
        ChatCompletions,
        true,
        whole,
        json!([{"field": index, "drop": true}]),
    );
    check_stream(ChatCompletions, json!([{"field": index, "drop": true}]));
    check_stream(
        ChatCompletions,
        json!([{"event": 1, "field": index, "set": "0"}, {"event": 2, "field": index, "set": 0.0}]),
    );
    check_stream(
        ChatCompletions,
        json!([{"field": "/choices/0/delta/tool_calls/0/id", "set": null}]),
    );
}

#[test]
fn odd_fields() {
    let arguments = "/choices/0/message/tool_calls/0/function/arguments";
    for odd in [
        json!([{"field": arguments, "set": {"command": "rm -rf ~"}}]),
        json!([{"field": "/choices/0/message/function_call", "set": null}]),
        json!([{"field": "/error", "set": ""}]),
        json!([{"field": "/usage", "set": {"prompt_tokens": "NaN"}}, {"replace": ["\"NaN\"", "NaN"]}]),
        json!([{"before": "\u{feff}"}]),
        json!([{"replace": ["tool_calls\"", "tool\\u005fcalls\""]}]),
    ] {
        check_calls(ChatCompletions, false, json!({}), odd);
    }
    for odd in [
        json!([{"event": 3, "lines": 4}]),
        json!([{"event": 2, "before": ": ping\n\n"}, {"event": 3, "before": "data: 7\n\nretry: 3\n\n"}]),
        json!([{"event": 2, "replace": ["\n\n", "\n"]}]),
        json!([{"replace": ["\n", "\r"]}]),
        json!([{"replace": ["\n", "\r\n"]}]),
        json!([{"field": "/error", "set": null}]),
        json!([{"field": "/choices/0/delta/function", "set": null}]),
        json!([{"replace": ["tool_calls\"", "tool\\u005fcalls\""]}]),
    ] {
        check_stream(ChatCompletions, odd);
    }
    for finish in ["", "null"] {
        let field = "/choices/0/finish_reason";
        check_stream(
            ChatCompletions,
            json!([
            {"event": 0, "field": field, "set": finish}, {"event": 1, "field": field, "set": finish},
            {"event": 2, "field": field, "set": finish}, {"event": 3, "field": field, "set": finish}]),
        );
    }
    for streams in [false, true] {
        let odd = json!([{"field": "/message/tool_calls/0/function/arguments", "set": "{\"command\":\"rm -rf ~\"}"},
            {"field": "/eval_count", "set": 3.0}]);
        check_calls(OllamaChat, streams, json!({}), odd);
    }
}

#[test]
fn input_at_the_start() {
    let odd = json!([{"event": 1, "field": "/content_block/input", "set": {"command": "rm -rf ~"}},
        {"event": 2, "bytes": ""}]);
    check_calls(Messages, true, json!({"piece": 1000}), odd);
}

#[test]
fn legacy_and_other_choices() {
    let function = json!({"name": "bash", "arguments": "{\"command\":\"rm -rf ~\"}"});
    let finish = json!([{"field": "/choices/0/message/function_call", "set": function}]);
    let whole = bytes(
        ChatCompletions,
        false,
        json!({"odd": finish, "finish": "function_call"}),
    );
    let (_, recorded, _) = recorded(ChatCompletions, &whole);
    assert_eq!(recorded[0].0, "bash");
    let (got, judged) = passed_judged(ChatCompletions, false, &whole);
    assert_eq!((judged.len(), got.contains("rm -rf")), (1, false), "{got}");
    let streamed =
        json!([{"event": 1, "field": "/choices/0/delta/function_call", "set": function}]);
    let stream = bytes(
        ChatCompletions,
        true,
        json!({"text": "x", "odd": streamed, "finish": "function_call"}),
    );
    let (got, judged) = passed_judged(ChatCompletions, true, &stream);
    assert_eq!((judged.len(), got.contains("rm -rf")), (1, false), "{got}");
    // Of a second choice nobody judges calls: none reaches a client.
    let other = bytes(
        ChatCompletions,
        true,
        json!({"calls": calls(), "odd": [{"field": "/choices/0/index", "set": 1}]}),
    );
    let (got, judged) = passed_judged(ChatCompletions, true, &other);
    assert_eq!((judged.len(), got.contains("rm -rf")), (0, false), "{got}");
}

#[test]
fn ends() {
    let text = |odd: Value| {
        bytes(
            ChatCompletions,
            true,
            json!({"text": "Hi there, you.", "piece": 4, "odd": odd}),
        )
    };
    let field = "/choices/0/finish_reason";
    for finish in ["", "null", "None"] {
        // Each chunk says so, and then it breaks off.
        let cut = text(json!([{"field": field, "set": finish}, {"event": -1, "bytes": ""}]));
        let (said, _, is_finished) = recorded(ChatCompletions, &cut);
        assert_eq!((&*said, is_finished), ("Hi there, you.", false), "{finish}");
        let done = text(json!([{"field": field, "set": finish}]));
        assert!(recorded(ChatCompletions, &done).2, "{finish}");
        let (got, _) = held(ChatCompletions, true, &done);
        assert_eq!(got.as_bytes(), done, "{finish}");
    }
}

#[test]
fn unreadable() {
    for body in ["upstream is busy", "<html>", "{\"choices\":", ""] {
        for dialect in Dialect::ALL {
            let (got, _) = held(dialect, false, body.as_bytes());
            assert_eq!(got, body, "{dialect:?}");
        }
    }
    let half = bytes(
        ChatCompletions,
        false,
        json!({"text": "x", "odd": [{"replace": ["\"x\"", "\"\\ud83d\""]}]}),
    );
    let (said, _, is_finished) = recorded(ChatCompletions, &half);
    assert_eq!((&*said, is_finished), ("\u{fffd}", true));
    assert_eq!(held(ChatCompletions, false, &half).0.as_bytes(), half);
    for (dialect, streams) in Dialect::ALL
        .into_iter()
        .flat_map(|it| [(it, false), (it, true)])
    {
        let odd =
            json!([{"field": "/seed", "set": "NUMBER"}, {"replace": ["\"NUMBER\"", "1e400"]}]);
        let said = bytes(dialect, streams, json!({"text": "All of it.", "odd": odd}));
        let (text, _, is_finished) = recorded(dialect, &said);
        assert_eq!(
            (&*text, is_finished),
            ("All of it.", true),
            "{dialect:?} {streams}"
        );
        assert_eq!(
            held(dialect, streams, &said).0.as_bytes(),
            said,
            "{dialect:?} {streams}"
        );
    }
}

/// Whatever is read of it, no byte of the call that is denied goes on.
fn check_closed(dialect: Dialect, streams: bool, bytes: &[u8]) {
    let (got, _) = passed(dialect, streams, bytes, CallRule::Judged);
    assert!(
        !got.contains("rm -rf"),
        "{dialect:?} {}: {got}",
        String::from_utf8_lossy(bytes)
    );
}

#[test]
fn nothing_open() {
    let with = |dialect, streams, odd: Value| {
        bytes(
            dialect,
            streams,
            json!({"text": "So.", "calls": calls(), "odd": odd}),
        )
    };
    for (dialect, streams) in [ChatCompletions, Messages, Responses, OllamaChat]
        .into_iter()
        .flat_map(|it| [(it, false), (it, true)])
    {
        let closed = |odd: Value| check_closed(dialect, streams, &with(dialect, streams, odd));
        let plain = with(dialect, streams, json!([]));
        for odd in [
            json!([{"field": "/index", "set": 0}]),
            json!([{"field": "/output_index", "set": 0}]),
            json!([{"field": "/output_index", "set": 9}]),
            json!([{"event": 0, "before": "\u{feff}"}]),
            json!([{"replace": ["\n\n", "\n"]}]),
            json!([{"replace": ["\"type\":\"function\"", "\"type\":\"custom\""]}]),
            json!([{"field": "/choices/0/finish_reason", "set": "stop"}]),
            json!([{"event": 2, "before": "data: {\"type\":\"ping\"}\n"}]),
            json!([{"replace": ["\"id_read\"", "\"id_bash\""]}]),
        ] {
            closed(odd);
        }
        // It may break off anywhere.
        for end in (1..plain.len()).step_by(3) {
            check_closed(dialect, streams, &plain[..end]);
        }
        // A pause anywhere ends no judging, and what isn't denied comes whole.
        for at in (1..plain.len()).step_by(5).filter(|_| streams) {
            let rule = (CallRule::Judged, at);
            let (got, _) = passed_with_pause(dialect, streams, &plain, rule);
            assert!(!got.contains("rm -rf"), "{dialect:?} {at}: {got}");
            assert!(got.contains("a.c"), "{dialect:?} {at}: {got}");
            let rule = (CallRule::Complete, at);
            let (got, _) = passed_with_pause(dialect, streams, &plain, rule);
            assert!(got.contains("a.c"), "{dialect:?} {at}: {got}");
        }
        // A body that is said to be another form.
        check_closed(dialect, !streams, &plain);
        let deep = format!(
            "{{\"command\":\"rm -rf ~\",\"x\":{}{}",
            "[".repeat(200),
            "]".repeat(200)
        );
        let text = String::from_utf8(plain).unwrap();
        for (from, to) in [
            ("{\"command\":\"rm -rf ~\"", &*deep),
            ("\"name\":\"bash\"", "\"name\":\"bash\",\"x\":[[[[[[]]]]]]"),
        ] {
            check_closed(dialect, streams, text.replace(from, to).as_bytes());
        }
    }
    let custom =
        json!({"type": "custom", "id": "c", "custom": {"name": "bash", "input": "rm -rf ~"}});
    for (streams, place) in [
        (false, "/choices/0/message/tool_calls"),
        (true, "/choices/0/delta/tool_calls"),
    ] {
        let odd = json!([{"event": 0, "field": place, "set": [custom]}]);
        check_closed(
            ChatCompletions,
            streams,
            &bytes(ChatCompletions, streams, json!({"text": "x", "odd": odd})),
        );
    }
}
