//! What prompts cost the model server, as `/recent` and `/doctor` tell it.

use serde_json::{Value, json};

use crate::harness::{JSON, Places, RING, Talk, Tslp, fenced};
use crate::upstream::{Answer, Step, Upstream, event, saying};

/// Bytes that are compared as one.
const BLOCK_BYTES: usize = 256;

/// A streamed reply whose last chunk tells what the server did.
fn reply_with_usage(usage: &Value) -> Answer {
    let stop = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let last = json!({"choices": [], "usage": usage});
    Answer::Steps(vec![
        Step::Chunk(event("Zero.")),
        Step::Chunk(format!("data: {stop}\n\ndata: {last}\n\ndata: [DONE]\n\n")),
    ])
}

/// The messages of a request as they stand in its body.
fn messages(body: &str) -> String {
    let (_, rest) = body.split_once("\"messages\":[").unwrap();
    let (messages, _) = rest.split_once("],\"stream\"").unwrap();
    messages.to_owned()
}

/// What `/recent` says of prompts of which each is compared with all before it.
fn expected(prompts: &[String]) -> Value {
    let (last, before) = prompts.split_last().unwrap();
    let shared = before.iter().map(|known| {
        let blocks = |text: &'_ str| -> Vec<Vec<u8>> {
            let blocks = text.as_bytes().chunks(BLOCK_BYTES);
            blocks.map(<[u8]>::to_vec).collect()
        };
        let (own, known) = (blocks(last), blocks(known));
        let same = own
            .iter()
            .zip(&known)
            .take_while(|(own, known)| own == known);
        same.map(|(own, _)| own.len()).sum::<usize>()
    });
    let total = last.len();
    json!({"anew": total - shared.max().unwrap_or(0), "chars": total})
}

fn sum(prices: &[&Value], form: &str) -> Value {
    let add = |name: &str| -> u64 {
        let figures = prices.iter().map(|price| price[form][name].as_u64());
        figures.map(Option::unwrap).sum()
    };
    json!({"anew": add("anew"), "chars": add("chars")})
}

/// What was read anew is told directly, as sent and by the server.
#[test]
fn new_tokens() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = Talk::new(&tslp).with_system(&"You are a careful programmer. ".repeat(40));
    let (mut direct, mut sent) = (Vec::new(), Vec::new());
    let mut prices = Vec::new();
    let paste = format!("{}Keep this in mind.", fenced("src/ring.c", RING));
    let turns = [
        (paste.as_str(), saying("Yes.")),
        (
            "What does `ring_put` return?",
            reply_with_usage(
                &json!({"prompt_tokens": 400, "prompt_tokens_details": {"cached_tokens": 100}}),
            ),
        ),
        (
            "Are you sure?",
            reply_with_usage(&json!({"prompt_tokens": 500})),
        ),
    ];
    for (text, reply) in turns {
        upstream.will(reply);
        direct.push(messages(&talk.request(text).to_string()));
        let episode = talk.ask(text).episode();
        sent.push(messages(&upstream.next().text()));
        prices.push(tslp.ended(episode)["price"].clone());
        let price = prices.last().unwrap();
        assert_eq!(price["client"], expected(&direct), "{text}");
        assert_eq!(price["sent"], expected(&sent), "{text}");
    }
    assert_eq!(prices[0]["server"], Value::Null);
    let figures = |prompt: u64, cached: Option<u64>| json!({"cached_tokens": cached, "evaluated_tokens": null, "prompt_tokens": prompt});
    assert_eq!(prices[1]["server"], figures(400, Some(100)));
    assert_eq!(prices[2]["server"], figures(500, None));
    // The code goes above the conversation, so that the question costs more than the client's own prompt.
    let anew = |form: &str| prices[1][form]["anew"].as_u64().unwrap();
    assert!(anew("sent") > anew("client"), "{:?}", prices[1]);

    // What the server refuses costs nothing.
    upstream.will(Answer::Plain(
        429,
        "application/json",
        b"{\"error\":{\"message\":\"busy\"}}".to_vec(),
    ));
    let refused = tslp.chat(&talk.request("And now?")).episode();
    assert_eq!(tslp.ended(refused)["price"], Value::Null);

    let price = tslp.page("/doctor")["price"].clone();
    let all: Vec<&Value> = prices.iter().collect();
    assert_eq!(price["episodes"], 3);
    assert_eq!(price["client"], sum(&all, "client"));
    assert_eq!(price["sent"], sum(&all, "sent"));
    let server =
        json!({"cached_percent": 25, "cached_tokens": 100, "episodes": 1, "prompt_tokens": 400});
    assert_eq!(price["server"], server);
    tslp.stop();

    let human = |arguments: &[&str]| {
        let output = places.in_workspace(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let recent = human(&["recent"]);
    let line = format!(
        "  price: {} of {} characters read anew, directly {} of {}; 100 of 400 tokens were cached\n",
        prices[1]["sent"]["anew"],
        prices[1]["sent"]["chars"],
        prices[1]["client"]["anew"],
        prices[1]["client"]["chars"]
    );
    assert!(recent.contains(&line), "{recent}");
    let line = format!(
        "ok       price             {} characters read anew as sent, {} directly",
        price["sent"]["anew"], price["client"]["anew"]
    );
    let doctor = human(&["doctor"]);
    assert!(doctor.contains(&line), "{doctor}");
    let log = human(&["log", "--kind", "prompt_measured"]);
    assert_eq!(log.lines().count(), 3, "{log}");
    assert!(
        log.contains("server (prompt_tokens 400, cached_tokens 100)"),
        "{log}"
    );
    let (code, page) = places.cli_json(&["verify", "--deep", "--history", "window"]);
    assert_eq!(
        (code, &page["deep"]["differences"]),
        (0, &json!([])),
        "{page:#}"
    );
}

#[test]
fn broken_off_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    upstream.will(Answer::Steps(vec![Step::Chunk(event("Ze")), Step::Reset]));
    let talk = Talk::new(&tslp);
    let broken = tslp.chat(&talk.request("What is it?")).episode();
    let entry = tslp.ended(broken);
    assert_eq!(entry["outcome"], "upstream_broken");
    let whole =
        json!({"anew": entry["price"]["sent"]["chars"], "chars": entry["price"]["sent"]["chars"]});
    assert_eq!(entry["price"]["sent"], whole);
    let again = tslp.chat(&talk.request("What is it?")).episode();
    assert_eq!(tslp.ended(again)["price"]["sent"]["anew"], 0);
}

/// Claude Code puts a value at the top of its system prompt that changes with each request.
#[test]
fn changed_beginning() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut messages = Vec::new();
    let mut breaks = Vec::new();
    for turn in 0..4 {
        let text = format!("Question {turn}. {}", "What is a ring? ".repeat(100));
        messages.push(json!({"role": "user", "content": text}));
        let system = format!("cch={turn}; You are a careful programmer.");
        let request =
            json!({"model": "m", "max_tokens": 9, "system": system, "messages": messages});
        let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"});
        upstream.will(Answer::Plain(
            200,
            "application/json",
            body.to_string().into_bytes(),
        ));
        let request = request.to_string();
        let response = tslp.request("POST", "/v1/messages", &[JSON], request.as_bytes());
        breaks.push(tslp.ended(response.episode())["cache_break"].clone());
        messages.push(json!({"role": "assistant", "content": "ok"}));
    }
    assert_eq!(breaks[0], Value::Null);
    for (turn, found) in breaks.iter().enumerate().skip(1) {
        assert_eq!(
            (&found["by"], &found["at_char"]),
            (&json!("client"), &json!(0)),
            "{turn}"
        );
        assert!(found["tokens"].as_u64().unwrap() > 300, "{found}");
    }
    let doctor = places.in_workspace(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(
        doctor.contains("CLAUDE_CODE_ATTRIBUTION_HEADER=0"),
        "{doctor}"
    );
    let recent = places.in_workspace(&["recent"]).output().unwrap();
    let recent = String::from_utf8(recent.stdout).unwrap();
    assert!(
        recent.contains("cache: the client changed the prompt from about character 0 on"),
        "{recent}"
    );
}

#[test]
fn held_checksum() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let said = |cch: &str| {
        let text =
            format!("x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch={cch};");
        json!({"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": text}], "messages": [{"role": "user", "content": "Hello."}]}).to_string()
    };
    let sent = |settings: &[&str], cch: &str| {
        let tslp = Tslp::with(&places, &upstream.url, settings);
        let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"});
        upstream.will(Answer::Plain(
            200,
            "application/json",
            body.to_string().into_bytes(),
        ));
        tslp.request("POST", "/v1/messages", &[JSON], said(cch).as_bytes());
        upstream.next().text()
    };
    assert!(sent(&[], "f09a1").ends_with(&said("f09a1")));
    let held = ["--window-hold-checksum"];
    assert!(sent(&held, "f09a1").ends_with(&said("00000")));
    assert!(sent(&held, "b2c3d").ends_with(&said("00000")));
    let file = places.path("request.json");
    std::fs::write(&file, said("11111")).unwrap();
    let preview = [
        "preview",
        "--window-hold-checksum",
        "--request",
        file.to_str().unwrap(),
    ];
    let preview = places.in_workspace(&preview).output().unwrap();
    assert_eq!(String::from_utf8(preview.stdout).unwrap(), said("00000"));
}
