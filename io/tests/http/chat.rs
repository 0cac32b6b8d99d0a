//! Chat requests through the engine: gate, side copy, endings, back-pressure.

use std::thread;
use std::time::Instant;

use tslp_core::ids::{EpisodeId, Seq};
use tslp_io::channel::{ExchangeId, ModelRequest, OwnAnswer, ToEngine, ToLoop};
use tslp_wire::chat::reply_pipe::{CallRule, PipeRules};

use crate::harness::{Client, Engine, OK, PATIENCE, Proxy, Upstream, audit};

const STREAM_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A request that is durable already.
fn forward(exchange: ExchangeId, rules: PipeRules) -> ToLoop {
    ToLoop::Forward {
        exchange,
        request: ModelRequest {
            model: None,
            body: b"{}".to_vec().into(),
        },
        durable_at: Seq(0),
        episode: EpisodeId(1),
        headers: Vec::new(),
        rules,
        may_ask_again: false,
    }
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

#[test]
fn round_trip() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    for round in 1..=3 {
        client.send(proxy.chat("{\"n\":1}"));
        let response = client.message();
        assert_eq!((response.status(), response.text().as_str()), (200, "{}"));
        assert_eq!(
            response.header("x-tslp-episode"),
            Some(format!("e{round}").as_str())
        );
        let seen = upstream.next();
        assert!(
            seen.head
                .starts_with("POST /v1/chat/completions HTTP/1.1\r\n"),
            "{}",
            seen.head
        );
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
        assert_eq!(seen.text(), "{\"n\":1}");
        assert_eq!(proxy.note(), "prompt {\"n\":1} - retry=false");
        assert_eq!(proxy.note(), "read ");
        assert_eq!(proxy.note(), "end Complete { status: 200 }");
    }
}

#[test]
fn passed_headers() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let request = proxy.at(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json; charset=utf-8\r\n\
         Authorization: Bearer sk-upstream\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nAccept-Encoding: br, gzip\r\n\
         x-tslp-session: mine\r\nX-Stainless-Retry-Count: 1\r\nX-Custom: kept\r\nContent-Length: 2\r\n\r\n{}",
    );
    let mut client = proxy.client();
    assert_eq!(client.send(request).message().status(), 200);
    assert_eq!(proxy.note(), "prompt {} mine retry=true");
    let seen = upstream.next();
    assert_eq!(seen.header("authorization"), Some("Bearer sk-upstream"));
    assert_eq!(seen.header("x-custom"), Some("kept"));
    assert_eq!(
        seen.header("host"),
        Some(upstream.url.strip_prefix("http://").unwrap())
    );
    for gone in ["x-hop", "connection", "x-tslp-session"] {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
}

/// A stream arrives byte for byte, each piece as soon as it is sent.
#[test]
fn stream_in_step() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.wire.send(STREAM_HEAD);
        for piece in [
            "data: {\"a\":1}\n\n",
            ": ping\r\n\r\n",
            "data: \u{fc}",
            "\n\n",
        ] {
            visit.wire.send(chunk(piece));
            visit.wire.exactly(0);
        }
        visit.wire.send(chunk("data: [DONE]\n\n")).send("0\r\n\r\n");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    let response = client.send(proxy.chat("{\"stream\":true}")).message();
    let whole = "data: {\"a\":1}\n\n: ping\r\n\r\ndata: \u{fc}\n\ndata: [DONE]\n\n";
    assert_eq!(response.text(), whole);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert!(proxy.note().starts_with("prompt"));
    proxy.wait_for("end Complete { status: 200 }");
}

#[test]
fn first_event() {
    let (go, wait) = crossbeam_channel::bounded::<()>(0);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.wire.send(STREAM_HEAD).send(chunk("data: 1\n\n"));
        wait.recv().unwrap();
        visit.wire.send(chunk("data: 2\n\n")).send("0\r\n\r\n");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    client.until(b"data: 1\n\n");
    go.send(()).unwrap();
    client.until(b"data: 2\n\n\r\n0\r\n\r\n");
}

/// A reply that says that it is over and whose response stays open.
fn open_end() -> (Upstream, crossbeam_channel::Sender<()>) {
    let (go, wait) = crossbeam_channel::bounded::<()>(0);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.wire.send(STREAM_HEAD).send(chunk("data: [DONE]\n\n"));
        let _ = wait.recv();
    });
    (upstream, go)
}

/// The engine is told of the end before the client can see it.
#[test]
fn end_before_client() {
    // An SDK stops reading at [DONE]; its next prompt must come behind the end of this reply.
    let (upstream, _open) = open_end();
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    client.until(b"[DONE]");
    let notes = [
        "prompt {} - retry=false",
        "read ",
        "end Complete { status: 200 }",
    ];
    assert_eq!(notes.map(|_| proxy.note()), notes);
}

/// A reply done before its prompt is durable waits for that all the same.
#[test]
fn done_before_durable() {
    let (upstream, _open) = open_end();
    let proxy = Proxy::start(&upstream.url, Engine::EchoUndurable);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    proxy.wait_for("end Complete { status: 200 }");
    check_silent(&proxy, &mut client);
    proxy.handle.send(ToLoop::Durable(Seq(1)));
    client.until(b"[DONE]");
}

/// A complete call waits for the engine's look though the stream goes on.
#[test]
fn complete_call_waits() {
    let call = "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"f\"}}\n\n";
    let (go, wait) = crossbeam_channel::bounded::<()>(0);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.wire.send(STREAM_HEAD).send(chunk(call));
        wait.recv().unwrap();
        visit.wire.send("0\r\n\r\n");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.chat("{}").replace("/chat/completions", "/responses"));
    client.until(b"\r\n\r\n");
    proxy.wait_for("read ");
    check_silent(&proxy, &mut client);
    go.send(()).unwrap();
    client.until(b"response.output_item.done");
    proxy.wait_for("end Complete { status: 200 }");
}

/// While a call is held the client hears that something comes, in its dialect's own form, and thoughts as they come.
#[test]
fn signs_of_life() {
    let sse = |lines: &[&str]| {
        lines
            .iter()
            .map(|it| format!("data: {it}\n\n"))
            .collect::<String>()
    };
    let chat = sse(&[
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}"#,
    ]);
    let messages = sse(&[
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}"#,
    ]);
    let responses = sse(&[
        r#"{"type":"response.reasoning_text.delta","output_index":0,"delta":"hm"}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":""}}"#,
    ]);
    for (path, begun, sign) in [
        ("/chat/completions", chat, ": the reply is judged"),
        (
            "/messages",
            messages,
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        ),
        ("/responses", responses, ": the reply is judged"),
    ] {
        let (go, wait) = crossbeam_channel::bounded::<()>(0);
        let upstream = Upstream::start(move |visit| {
            visit.request();
            visit.wire.send(STREAM_HEAD).send(chunk(&begun));
            let _ = wait.recv();
        });
        let proxy = Proxy::start(&upstream.url, Engine::Silent);
        let mut client = proxy.client();
        client.send(proxy.chat("{}").replace("/chat/completions", path));
        let Ok(ToEngine::Prompt { exchange, .. }) = proxy.raw.recv() else {
            panic!("a prompt");
        };
        let rules = PipeRules {
            calls: CallRule::Complete,
            ..PipeRules::default()
        };
        proxy.handle.send(forward(exchange, rules));
        client.until(b"hm");
        client.until(sign.as_bytes());
        client.until(sign.as_bytes());
        drop(go);
    }
}

/// A later request of another client is answered; this client has got nothing yet.
fn check_silent(proxy: &Proxy, client: &mut Client) {
    let other = proxy.client().send(proxy.get("/health")).message();
    assert_eq!(other.status(), 200);
    client.stream.set_nonblocking(true).unwrap();
    let mut byte = [0];
    let early = std::io::Read::read(&mut client.stream, &mut byte);
    assert_eq!(early.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    client.stream.set_nonblocking(false).unwrap();
}

/// No byte comes before the prompt is durable.
#[test]
fn durable_before_bytes() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::EchoUndurable);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    proxy.wait_for("end Complete { status: 200 }");
    check_silent(&proxy, &mut client);
    proxy.handle.send(ToLoop::Durable(Seq(1)));
    assert_eq!(client.message().text(), "{}");
    // The connection lives on.
    client.send(proxy.get("/health"));
    assert_eq!(client.message().status(), 200);
}

#[test]
fn bounded_gate() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit
            .wire
            .send("HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n");
        let block = vec![b'x'; 65536];
        // The proxy stops reading: the sockets' buffers fill and stay full.
        let short = Some(std::time::Duration::from_millis(300));
        visit.wire.stream.set_write_timeout(short).unwrap();
        let mut sent = 0;
        while sent < 33_554_432 {
            match std::io::Write::write(&mut visit.wire.stream, &block) {
                Ok(count) => sent += count,
                Err(_) => break,
            }
        }
        visit.say(if sent < 33_554_432 {
            "stuck"
        } else {
            "through"
        });
        visit
            .wire
            .stream
            .set_write_timeout(Some(crate::harness::PATIENCE))
            .unwrap();
        while sent < 33_554_432 {
            let count = block.len().min(33_554_432 - sent);
            visit.wire.send(&block[..count]);
            sent += count;
        }
    });
    let proxy = Proxy::start(&upstream.url, Engine::EchoUndurable);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    assert_eq!(upstream.hears(), "stuck");
    proxy.handle.send(ToLoop::Durable(Seq(1)));
    assert_eq!(client.message().body.len(), 33_554_432);
    proxy.wait_for("end Complete { status: 200 }");
}

/// A client that leaves closes the upstream.
#[test]
fn client_leaves() {
    // While the upstream thinks, and in the middle of its stream; closing and half-closing.
    for begin in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
    ] {
        for half in [false, true] {
            let upstream = Upstream::start(move |visit| {
                visit.request();
                visit.wire.send(begin);
                visit.wire.rest();
                visit.say("closed");
            });
            let proxy = Proxy::start(&upstream.url, Engine::Echo);
            let mut client = proxy.client();
            client.send(proxy.chat("{}"));
            upstream.next();
            if !begin.is_empty() {
                client.until(b"data: 1\n\n");
            }
            if half {
                client.half_close();
            } else {
                drop(client);
            }
            assert_eq!(upstream.hears(), "closed");
            proxy.wait_for("end ClientGone");
        }
    }
}

#[test]
fn client_leaves_first() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Silent);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    assert!(proxy.note().starts_with("prompt"));
    let Ok(ToEngine::Prompt { exchange, .. }) = proxy.raw.recv() else {
        panic!("a prompt");
    };
    client.half_close();
    assert_eq!(client.closed(), "");
    proxy.handle.send(forward(exchange, PipeRules::default()));
    assert_eq!(proxy.note(), "end ClientGone");
    assert!(upstream.seen.is_empty());
}

#[test]
fn engine_answers() {
    let proxy = Proxy::start("http://127.0.0.1:9", Engine::Silent);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    let Ok(ToEngine::Prompt { exchange, .. }) = proxy.raw.recv() else {
        panic!("a prompt");
    };
    let answer = OwnAnswer::json(400, b"{\"error\":{}}".to_vec());
    proxy.handle.send(ToLoop::Answer { exchange, answer });
    let response = client.message();
    assert_eq!(
        (response.status(), response.text().as_str()),
        (400, "{\"error\":{}}")
    );
}

/// A stream that breaks gets an error event and no end.
#[test]
fn broken_stream() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit
            .wire
            .send(STREAM_HEAD)
            .send(chunk("data: {\"half"))
            .send("7\r\ndat");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    let text = client.closed();
    assert!(
        text.contains("\n\ndata: {\"error\":{\"message\":\"the model server at"),
        "{text}"
    );
    assert!(
        !text.contains("[DONE]") && !text.ends_with("0\r\n\r\n"),
        "{text}"
    );
    proxy.wait_for("end UpstreamBroken");
}

/// Ollama's clients parse each line, and take none that is blank.
#[test]
fn broken_json_lines() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        visit.wire.send(head);
        visit
            .wire
            .send(chunk("{\"message\":{\"content\":\"a\"}}\n"));
        visit.wire.send("7\r\n");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(
        proxy
            .chat("{}")
            .replace("/v1/chat/completions", "/api/chat"),
    );
    let text = client.closed();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[1].contains("\"error\":\"the model server at"),
        "{text}"
    );
    assert!(!text.contains("\n\n"), "{text}");
}

#[test]
fn broken_body() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit
            .wire
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a\"");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    // No byte of a body is out before all of it is there.
    assert_eq!(client.message().status(), 502);
    proxy.wait_for("end UpstreamBroken");
}

/// A failed ledger refuses chat and nothing else.
#[test]
fn failed_ledger() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::EchoUndurable);
    let mut waiting = proxy.client();
    waiting.send(proxy.chat("{}"));
    proxy.wait_for("end Complete { status: 200 }");
    proxy.handle.send(ToLoop::LedgerFailed {
        message: "the disk is full".to_owned(),
    });
    let response = waiting.message();
    assert_eq!(response.status(), 400);
    assert!(response.text().contains("the disk is full"));
    assert_eq!(response.header("x-should-retry"), Some("false"));
    let mut later = proxy.client();
    assert_eq!(later.send(proxy.chat("{}")).message().status(), 400);
    assert_eq!(
        proxy
            .client()
            .send(proxy.get("/v1/models"))
            .message()
            .status(),
        200
    );
    assert_eq!(
        proxy.client().send(proxy.get("/doctor")).message().status(),
        200
    );
    proxy.audits.ask(audit());
    assert!(proxy.audits.try_next().is_none());
}

/// Every request for the model puts off audits before it goes on.
#[test]
fn audits_put_off() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Silent);
    proxy.audits.ask(audit());
    let mut begun = proxy.audits.try_next().expect("the model is free");
    // Neither is for the model.
    for path in ["/v1/models", "/health"] {
        let response = proxy.client().send(proxy.get(path)).message();
        assert_eq!(response.status(), 200);
    }
    assert_eq!(proxy.audits.end_audit(), Ok(()));
    proxy.audits.ask_again(begun);
    begun = proxy.audits.try_next().expect("the model is still free");
    // The head is enough.
    let request = proxy.chat("{}");
    let (head, body) = request.split_at(request.len() - 2);
    let mut client = proxy.client();
    client.send(head);
    let deadline = Instant::now() + PATIENCE;
    while proxy.audits.end_audit() == Ok(()) {
        assert!(Instant::now() < deadline, "the request is noticed");
        proxy.audits.ask_again(begun);
        begun = match proxy.audits.try_next() {
            Some(audit) => audit,
            None => break,
        };
        thread::yield_now();
    }
    assert!(proxy.audits.try_next().is_none());
    assert!(proxy.nothing_noted());
    client.send(body);
    assert!(proxy.note().starts_with("prompt {}"));
    drop(client);
    proxy.handle.shutdown();
    proxy.ended();
    proxy.audits.ask(audit());
    assert!(proxy.audits.try_next().is_none());
}

/// A full engine channel holds the upstream back and loses nothing.
#[test]
fn full_engine_channel() {
    // The engine's channel takes four messages; the reply is hundreds of side copies.
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit
            .wire
            .send("HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n");
        for index in 0..128_u8 {
            visit.wire.send(vec![index; 65536]);
        }
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    let body = client.send(proxy.chat("{}")).message().body;
    assert_eq!(body.len(), 8 << 20);
    let mut read_bytes = 0;
    for message in &proxy.raw {
        match message {
            ToEngine::ReplyRead { read, .. } => read_bytes += read.bytes,
            ToEngine::ReplyEnd { .. } => break,
            _ => {}
        }
    }
    assert_eq!(read_bytes, body.len());
}

/// A shutdown lets streams finish and tells the engine last.
#[test]
fn orderly_shutdown() {
    let (go, wait) = crossbeam_channel::bounded::<()>(0);
    let upstream = Upstream::start(move |visit| {
        visit.request();
        visit.wire.send(STREAM_HEAD).send(chunk("data: 1\n\n"));
        wait.recv().unwrap();
        visit.wire.send(chunk("data: [DONE]\n\n")).send("0\r\n\r\n");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut idle = proxy.client();
    idle.send(proxy.get("/health")).message();
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    client.until(b"data: 1\n\n");
    proxy.handle.shutdown();
    assert_eq!(idle.closed(), "");
    go.send(()).unwrap();
    client.until(b"data: [DONE]\n\n\r\n0\r\n\r\n");
    proxy.wait_for("end Complete { status: 200 }");
    assert_eq!(proxy.note(), "shutdown");
    proxy.ended();
}

#[test]
fn redirect_explained() {
    let upstream = Upstream::answering(
        b"HTTP/1.1 308 Permanent Redirect\r\nLocation: https://models.example/v1/chat/completions\r\nContent-Length: 0\r\n\r\n",
    );
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let response = proxy.client().send(proxy.chat("{}")).message();
    assert_eq!(response.status(), 400);
    let text = response.text();
    for part in [
        "upstream_redirects",
        "https://models.example/v1/chat/completions",
        "--upstream",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(upstream.next().text(), "{}");
    assert!(upstream.seen.is_empty());
}
