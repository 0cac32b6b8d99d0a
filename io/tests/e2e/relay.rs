//! What isn't the proxy's to change passes through to the byte, in both directions.

use crate::harness::{CHAT, JSON, Places, Tslp, prompt};
use crate::upstream::{Answer, Step, Upstream, completion, event, events, last_events};

#[test]
fn stream_unchanged() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut chunks = vec![": ping\r\n\r\n".to_owned()];
    chunks.extend(events(
        "Grüße aus dem Modell, in vielen kleinen Stücken gesagt und ganz gelassen.",
    ));
    chunks.insert(
        2,
        "data: {\"choices\":[],\"usage\":null,\"x\":1.50}\n\n".into(),
    );
    let sent = chunks.concat();
    upstream.will(Answer::Steps(chunks.into_iter().map(Step::Chunk).collect()));
    let mut request = prompt("hello");
    request["stream"] = true.into();
    let response = tslp.chat(&request);
    assert_eq!(response.text(), sent);
    assert!(response.whole);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.header("x-tslp-episode"), Some("e1"));
}

#[test]
fn chunks_at_once() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (go_on, barrier) = crate::upstream::barrier();
    let steps = vec![
        Step::Chunk(event("first")),
        barrier,
        Step::Chunk(event("second")),
        Step::Chunk(last_events()),
    ];
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("hello"));
    client.until("first");
    go_on.send(()).unwrap();
    client.until("second");
    assert!(client.response().whole);
}

#[test]
fn plain_reply_unchanged() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let body = format!(" {:#}\n", completion("hello"));
    upstream.will(Answer::Plain(
        200,
        "application/json",
        body.clone().into_bytes(),
    ));
    let response = tslp.say("hello");
    assert_eq!(response.text(), body);
    assert_eq!(response.header("x-tslp-episode"), Some("e1"));
}

#[test]
fn other_routes() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let models = br#"{ "object":"list", "data":[] }"#;
    upstream.will(Answer::Plain(200, "application/json", models.to_vec()));
    let response = tslp.get("/v1/models?all=%20yes");
    assert_eq!(response.body, models);
    assert_eq!(response.header("x-tslp-episode"), None);
    assert_eq!(upstream.next().line, "GET /v1/models?all=%20yes HTTP/1.1");

    let every_byte: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let answer: Vec<u8> = every_byte.iter().rev().copied().collect();
    upstream.will(Answer::Plain(201, "application/x-odd", answer.clone()));
    let fields = [
        ("Content-Type", "application/x-strange"),
        ("X-Odd", "one  two"),
    ];
    let response = tslp.request("POST", "/v1/embeddings", &fields, &every_byte);
    assert_eq!(response.status(), 201);
    assert_eq!(response.header("content-type"), Some("application/x-odd"));
    assert_eq!(response.body, answer);
    let seen = upstream.next();
    assert_eq!(seen.body, every_byte);
    assert!(seen.head.contains("one  two"), "{}", seen.head);
    assert!(seen.head.contains("application/x-strange"), "{}", seen.head);
    assert_eq!(crate::ledger_file::events(&places.data), 0);
}

#[test]
fn unknown_fields() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let body = r#"{"zeta":1.50,"top_k":1e3,"messages":[{"name":"n","content":"caf\u00e9 \/","role":"user","extra":{"b":[1, 2],"a":null}}],"alpha":{"y":1,"x":[ ]},"model":"m"}"#;
    let response = tslp.request("POST", CHAT, &[JSON], body.as_bytes());
    assert_eq!(response.status(), 200);
    assert_eq!(upstream.next().text(), body);
}

#[test]
fn images_and_tool_calls() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let body = r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"what?"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\": 1}"}}]},{"role":"tool","tool_call_id":"c1","content":"seen"}],"tools":[{"type":"function","function":{"name":"look"}}]}"#;
    tslp.request("POST", CHAT, &[JSON], body.as_bytes());
    assert_eq!(upstream.next().text(), body);
}
