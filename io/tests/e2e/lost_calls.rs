//! Calls of the client's own tools that a model writes as text, in each dialect that has tools.

use serde_json::{Value, json};
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::reply::ReplyDecoder;

use crate::harness::{JSON, Places, Tslp, eventually};
use crate::tool_loop::{events, of_kind};
use crate::upstream::{Answer, Reply, Step, Upstream, barrier, closing};
use tslp_scripted::{Call, Prompt, Response, encoded};

const DIALECTS: [Dialect; 4] = [
    Dialect::ChatCompletions,
    Dialect::Messages,
    Dialect::Responses,
    Dialect::OllamaChat,
];

const fn messages_field(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "input",
        _ => "messages",
    }
}

/// A client that offers two tools.
fn request(dialect: Dialect, streams: bool) -> Value {
    let prompt = Prompt::user("Look at a.c.").streaming(streams);
    let prompt = prompt.offering("read_file", &["path"]);
    prompt.offering("bash", &["command"]).body(dialect)
}

fn scripted(text: &str) -> Reply {
    Reply::text(text).in_pieces(5).costing(9, 3)
}

/// The pieces of a stream of one text, a few characters each.
fn pieces(dialect: Dialect, text: &str) -> Vec<String> {
    let (_, events) = encoded(dialect, true, &scripted(text));
    let events = events.into_iter();
    events.map(|it| String::from_utf8(it).unwrap()).collect()
}

pub(crate) fn reply(dialect: Dialect, streams: bool, text: &str) -> Answer {
    let (media, events) = encoded(dialect, streams, &scripted(text));
    Answer::Plain(200, media, events.concat())
}

/// What a client reads of a response: its text, its calls, and why it ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) calls: Vec<(String, String)>,
    reason: String,
}

pub(crate) fn read(dialect: Dialect, response: &Response) -> Read {
    assert_eq!(response.status(), 200, "{}", response.text());
    assert!(response.whole, "{}", response.text());
    let mut decoder = ReplyDecoder::new(dialect);
    let mut text = decoder.push(&response.body).text;
    text += &decoder.end_message().text;
    assert!(decoder.is_finished(), "{}", response.text());
    let read = decoder.read_reply();
    let calls = read.calls.into_iter();
    Read {
        text,
        calls: calls.map(|(_, call)| (call.name, call.arguments)).collect(),
        reason: read.finish_reason.unwrap_or_default(),
    }
}

fn ask(tslp: &Tslp<'_>, dialect: Dialect, streams: bool) -> Response {
    let mut client = tslp.client();
    let body = request(dialect, streams).to_string();
    client.send("POST", dialect.route_path(), &[JSON], body.as_bytes());
    client.response()
}

/// How a reply with calls ends.
fn reason_of_calls(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ChatCompletions => "tool_calls",
        Dialect::Messages => "tool_use",
        Dialect::OllamaChat => "stop",
        _ => "completed",
    }
}

/// Each dialect, streamed and whole.
pub(crate) fn forms() -> impl Iterator<Item = (Dialect, bool)> {
    DIALECTS
        .into_iter()
        .flat_map(|dialect| [(dialect, true), (dialect, false)])
}

/// What a reply's record says of calls in its text.
fn recorded(tslp: &Tslp<'_>, response: &Response) -> Value {
    tslp.ended(response.episode())["lost_calls"].clone()
}

fn check_record(places: &Places) {
    places.verify_deep();
}

const CALL: &str = r#"{"name": "read_file", "arguments": {"path": "a.c"}}"#;
const WRONG: &str = r#"{"name": "read_file", "arguments": {"file": "a.c"}}"#;

fn read_file() -> (String, String) {
    ("read_file".into(), r#"{"path":"a.c"}"#.into())
}

/// Calls in a text are delivered in every dialect, with marks split over chunks.
#[test]
fn calls_delivered() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    for (dialect, streams) in forms() {
        let check = |said: &str, text: &str, calls: Vec<(String, String)>| {
            upstream.will(reply(dialect, streams, said));
            let response = ask(&tslp, dialect, streams);
            let raw = response.text();
            let expected = Read {
                text: text.into(),
                calls,
                reason: reason_of_calls(dialect).into(),
            };
            assert_eq!(read(dialect, &response), expected, "{dialect:?}: {raw}");
            let found = recorded(&tslp, &response);
            assert_eq!(found[0]["outcome"], "delivered", "{found}");
        };
        let one = format!("<tool_call>\n{CALL}\n</tool_call>");
        check(&one, "", vec![read_file()]);
        check(
            &format!("I look.\n\n{one}\n{one}"),
            "I look.\n\n",
            vec![read_file(), read_file()],
        );
        let fenced = format!("```json\n{CALL}\n```");
        check(&fenced, "", vec![read_file()]);
        let thoughts = format!("<think>\n{one}\n</think>\n");
        check(&format!("{thoughts}{CALL}"), &thoughts, vec![read_file()]);
    }
    tslp.stop();
    check_record(&places);
}

/// Prose and fences that explain stay byte for byte, as does everything if it is off.
#[test]
fn prose_unchanged() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let check = |tslp: &Tslp<'_>, said: &str| {
        for (dialect, streams) in forms() {
            let Answer::Plain(status, media, bytes) = reply(dialect, streams, said) else {
                unreachable!("a reply of one piece")
            };
            upstream.will(Answer::Plain(status, media, bytes.clone()));
            let response = ask(tslp, dialect, streams);
            assert_eq!(response.text(), String::from_utf8(bytes).unwrap());
            assert_eq!(recorded(tslp, &response), json!([]));
        }
    };
    let tslp = Tslp::start(&places, &upstream);
    check(&tslp, "It is in a.c.");
    check(
        &tslp,
        "A model writes `<tool_call>`, for instance:\n<tool_call> and then JSON.",
    );
    let harmful = r#"{"name": "bash", "arguments": {"command": "npm publish"}}"#;
    for words in [
        "I'd run this, once you agree:",
        "Ich würde das ausführen:",
        "実行するなら:",
    ] {
        check(&tslp, &format!("{words}\n\n```json\n{harmful}\n```"));
        check(&tslp, &format!("{words}\n{harmful}"));
    }
    check(
        &tslp,
        &format!("Like so:\n```\n<tool_call>{harmful}</tool_call>\n```"),
    );
    check(
        &tslp,
        &format!("<think>\n<tool_call>{harmful}</tool_call>\n</think>\nNo."),
    );
    check(&tslp, "I will read the file a.c.");
    check(&tslp, &format!("```json\n{CALL}\n```\nis such a call."));
    check(
        &tslp,
        &format!("<tool_call>{CALL}</tool_call>\nThat is how it is done."),
    );
    check(&tslp, "{\"name\": \"Alice\", \"age\": 7}");
    tslp.stop();
    let tslp = Tslp::with(&places, &upstream.url, &["--repair", "tell"]);
    check(&tslp, &format!("<tool_call>{CALL}</tool_call>"));
    tslp.stop();
    check_record(&places);
}

/// Nothing waits before a call may have begun.
#[test]
fn no_early_wait() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    for dialect in DIALECTS.into_iter().filter(|it| *it != Dialect::OllamaChat) {
        let all = pieces(
            dialect,
            "I look at it.\n<tool_call> is a mark, ladies and gentlemen.",
        );
        let at = all
            .iter()
            .position(|piece| piece.contains("ntlem"))
            .unwrap();
        let (first, rest) = all.split_at(at);
        let (open, wait) = barrier();
        let steps = vec![
            Step::Chunk(first.concat()),
            wait,
            Step::Chunk(rest.concat()),
        ];
        upstream.will(Answer::Steps(steps));
        let mut client = tslp.client();
        let body = request(dialect, true).to_string();
        client.send("POST", dialect.route_path(), &[JSON], body.as_bytes());
        // Everything up to the piece that is yet to come.
        client.until("nd ge");
        open.send(()).unwrap();
        assert_eq!(client.response().text(), all.concat());
    }
    tslp.stop();
}

/// What does not fit is asked for once more, after all that the model was given.
#[test]
fn asked_once_more() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    for (dialect, streams) in forms() {
        let field = messages_field(dialect);
        let said = format!("I look.\n<tool_call>{WRONG}</tool_call>");
        let check = |second: Answer, expected: &Read| {
            upstream.will(reply(dialect, streams, &said));
            upstream.will(second);
            let response = ask(&tslp, dialect, streams);
            assert_eq!(&read(dialect, &response), expected, "{}", response.text());
            let (first, again) = (upstream.next().json(), upstream.next().json());
            let (known, asked) = (first[field].to_string(), again[field].to_string());
            assert!(
                asked.starts_with(known.trim_end_matches(['"', '}', ']'])),
                "{asked}"
            );
            for part in ["`path` is missing", "<tool_call>"] {
                assert!(asked.contains(part), "{asked}");
            }
            assert_eq!(
                (&first["tools"], &first["stream"]),
                (&again["tools"], &again["stream"])
            );
            assert!(upstream.saw_nothing(), "one request more");
            let found = recorded(&tslp, &response);
            assert_eq!(found[0]["outcome"], "asked_again", "{found}");
            found[1]["outcome"].as_str().unwrap().to_owned()
        };
        let repaired = Read {
            text: "I look.\n".into(),
            calls: vec![read_file()],
            reason: reason_of_calls(dialect).into(),
        };
        let right = format!("Sorry.\n<tool_call>{CALL}</tool_call>");
        assert_eq!(
            check(reply(dialect, streams, &right), &repaired),
            "delivered"
        );
        // The first reply goes out where the second is an error, prose, or as wrong as the first.
        let body = encoded(dialect, false, &scripted(&said)).1.concat();
        let whole = Response {
            head: "HTTP/1.1 200 OK".into(),
            body,
            whole: true,
        };
        let first = read(dialect, &whole);
        for second in [
            Answer::Plain(500, "application/json", b"{\"error\":\"no\"}".to_vec()),
            Answer::Steps(vec![Step::Chunk("data: ".into()), Step::Reset]),
            reply(dialect, streams, "I can't."),
            reply(dialect, streams, &format!("<tool_call>{WRONG}</tool_call>")),
        ] {
            assert_eq!(check(second, &first), "left_as_text");
        }
    }
    tslp.stop();
    check_record(&places);
}

/// If one of two calls is broken, both are asked for once more.
#[test]
fn one_broken_of_two() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    let right = format!("<tool_call>{CALL}</tool_call>");
    for (dialect, streams) in forms() {
        for broken in [WRONG, "{\"name\": \"read_file\", \"arg"] {
            let first = format!("{right}\n<tool_call>{broken}</tool_call>");
            upstream.will(reply(dialect, streams, &first));
            upstream.will(reply(dialect, streams, &format!("{right}{right}")));
            let got = read(dialect, &ask(&tslp, dialect, streams));
            assert_eq!(got.calls, [read_file(), read_file()], "{got:?}");
        }
    }
    tslp.stop();
    check_record(&places);
}

#[test]
fn both_requests_counted() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    let wrong = format!("<tool_call>{WRONG}</tool_call>");
    let right = format!("<tool_call>{CALL}</tool_call>");
    let mut requests = 0;
    for (dialect, streams) in forms() {
        for second in [&*right, "I can't."] {
            upstream.will(reply(dialect, streams, &wrong));
            upstream.will(reply(dialect, streams, second));
            let response = ask(&tslp, dialect, streams);
            let mut decoder = ReplyDecoder::new(dialect);
            decoder.push(&response.body);
            decoder.end_message();
            let told = decoder.server_usage().unwrap();
            // A stream of messages has said what was read before its first word.
            let is_early = streams && dialect == Dialect::Messages;
            let expected = (Some(if is_early { 9 } else { 18 }), Some(6));
            assert_eq!(
                (told.prompt_tokens, told.completion_tokens),
                expected,
                "{dialect:?}"
            );
            tslp.ended(response.episode());
            requests += 2;
        }
    }
    tslp.at_rest();
    let (_, page) = places.cli_json(&["status", "usage"]);
    let rows = page["usage"].as_array().unwrap();
    let sum = |name: &str| {
        rows.iter()
            .map(|row| row[name].as_u64().unwrap())
            .sum::<u64>()
    };
    let counted = (sum("requests"), sum("read"), sum("written"));
    assert_eq!(counted, (requests, 9 * requests, 3 * requests), "{page}");
    tslp.stop();
    check_record(&places);
}

/// A second reply may call in the dialect's own way.
#[test]
fn native_second_call() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::start(&places, &upstream);
    let dialect = Dialect::ChatCompletions;
    upstream.will(reply(
        dialect,
        false,
        "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"pa",
    ));
    upstream.will(with_calls("", &[("read_file", "{\"path\":\"a.c\"}")]).costing(20, 5));
    let response = ask(&tslp, dialect, false);
    assert_eq!(read(dialect, &response).calls, [read_file()]);
    // The client pays for both.
    assert_eq!(response.json()["usage"]["total_tokens"], 37);
    tslp.stop();
    check_record(&places);
}

#[test]
fn call_is_judged() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--guardian-client-tools", "strict"],
    );
    let harmful = r#"{"name": "bash", "arguments": {"command": "rm -rf ~"}}"#;
    for (dialect, streams) in forms() {
        let said = format!("<tool_call>{harmful}</tool_call><tool_call>{CALL}</tool_call>");
        upstream.will(reply(dialect, streams, &said));
        let got = read(dialect, &ask(&tslp, dialect, streams));
        assert!(
            got.text.contains("The Guardian kept back `rm -rf ~`"),
            "{got:?}"
        );
        assert_eq!(got.calls, [read_file()], "{dialect:?} {streams}");
        upstream.will(reply(
            dialect,
            streams,
            &format!("<tool_call>{harmful}</tool_call>"),
        ));
        let got = read(dialect, &ask(&tslp, dialect, streams));
        assert!(
            got.calls.is_empty() && got.text.contains("kept back"),
            "{got:?}"
        );
        assert!(
            !matches!(&*got.reason, "tool_calls" | "tool_use"),
            "{got:?}"
        );
    }
    tslp.stop();
    let tslp = Tslp::start(&places, &upstream);
    upstream.will(reply(
        Dialect::ChatCompletions,
        true,
        &format!("<tool_call>{harmful}</tool_call>"),
    ));
    let got = read(
        Dialect::ChatCompletions,
        &ask(&tslp, Dialect::ChatCompletions, true),
    );
    // What harms nobody as a text isn't made a call, though nothing is kept back.
    assert_eq!(
        (got.calls.len(), got.text.contains("rm -rf")),
        (0, true),
        "{got:?}"
    );
    tslp.stop();
    let log = places
        .in_workspace(&["log", "--kind", "action_judged"])
        .output();
    let log = String::from_utf8(log.unwrap().stdout).unwrap();
    assert!(log.lines().last().unwrap().contains("DENY"), "{log}");
    check_record(&places);
}

/// A reply that says something and then makes calls as calls are made.
fn with_calls(said: &str, calls: &[(&str, &str)]) -> Reply {
    let calls = calls
        .iter()
        .map(|(name, arguments)| Call::new(name, (*arguments).into()));
    Reply::text(said).calling(calls)
}

/// Calls beside a text or in a second reply are judged once.
#[test]
fn judged_once() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--guardian-client-tools", "strict"],
    );
    let dialect = Dialect::ChatCompletions;
    let calls = [
        ("bash", r#"{"command": "rm -rf ~"}"#),
        ("read_file", r#"{"path":"a.c"}"#),
    ];
    let wrong = format!("<tool_call>{WRONG}</tool_call>");
    upstream.will(reply(dialect, true, &wrong));
    upstream.will(with_calls("", &calls));
    let got = read(dialect, &ask(&tslp, dialect, true));
    assert_eq!(got.calls, [read_file()], "{got:?}");
    assert_eq!(got.text.matches("kept back").count(), 1, "{got:?}");
    assert!(!got.text.contains("<tool_call>"), "{got:?}");
    // Beside calls, a text is a text; it comes before them.
    upstream.will(with_calls(&wrong, &calls));
    let got = read(dialect, &ask(&tslp, dialect, true));
    assert_eq!(got.calls, [read_file()], "{got:?}");
    let expected = format!("{wrong}\n\nThe Guardian kept back `rm -rf ~`");
    assert!(got.text.starts_with(&expected), "{got:?}");
    tslp.stop();
    assert_eq!(of_kind(&events(&places), "action_judged").len(), 4);
    check_record(&places);
}

/// A client that leaves and a kill during the second question leave an open episode.
#[test]
fn open_episode() {
    let (upstream, places) = (Upstream::start(), Places::new());
    let dialect = Dialect::ChatCompletions;
    let begin = |tslp: &Tslp<'_>, step: Step| {
        upstream.will(reply(
            dialect,
            true,
            &format!("<tool_call>{WRONG}</tool_call>"),
        ));
        upstream.will(Answer::Silence(step));
        let mut client = tslp.client();
        let body = request(dialect, true).to_string();
        client.send("POST", dialect.route_path(), &[JSON], body.as_bytes());
        upstream.next();
        upstream.next();
        client
    };
    let tslp = Tslp::start(&places, &upstream);
    let (closed, step) = closing();
    drop(begin(&tslp, step));
    closed.recv().unwrap();
    assert_eq!(tslp.ended(1)["outcome"], "client_gone");
    let (_open, wait) = barrier();
    let client = begin(&tslp, wait);
    eventually(|| (of_kind(&events(&places), "lost_call_found").len() == 2).then_some(()));
    tslp.kill();
    drop(client);
    let tslp = Tslp::start(&places, &upstream);
    let interrupted = tslp.ended(2);
    assert_eq!(interrupted["outcome"], "interrupted");
    assert_eq!(interrupted["lost_calls"][0]["outcome"], "asked_again");
    tslp.stop();
    check_record(&places);
}
