//! Peers that dawdle: bounded buffers, and nobody else is held up.

use std::io::Write;
use std::time::Duration;

use crate::harness::{Client, Engine, OK, PATIENCE, Proxy, Upstream};

/// Far more than the loop's buffer and the sockets' together.
const BYTES: usize = 64 << 20;

/// The beginning of a chat request.
const HALF: &str = "POST /v1/chat/completions HTTP/1.1\r\nHo";

/// Writes until the peer takes nothing for a while.
fn write_until_stuck(stream: &mut std::net::TcpStream) -> usize {
    stream
        .set_write_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let block = vec![b'x'; 65_536];
    let mut sent = 0;
    while sent < BYTES {
        match stream.write(&block[..block.len().min(BYTES - sent)]) {
            Ok(count) => sent += count,
            Err(_) => break,
        }
    }
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    sent
}

#[test]
fn client_reads_nothing() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.wire.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n"
        ));
        let sent = write_until_stuck(&mut visit.wire.stream);
        visit.say(if sent < BYTES { "stuck" } else { "through" });
        visit.wire.send(vec![b'x'; BYTES - sent]);
    });
    for chat in [false, true] {
        let proxy = Proxy::start(&upstream.url, Engine::Echo);
        let mut client = proxy.client();
        client.send(if chat {
            proxy.chat("{}")
        } else {
            proxy.get("/v1/x")
        });
        assert_eq!(upstream.hears(), "stuck");
        assert_eq!(
            proxy.client().send(proxy.get("/health")).message().status(),
            200
        );
        assert_eq!(client.message().body.len(), BYTES);
    }
}

#[test]
fn upstream_reads_nothing() {
    let (go, wait) = crossbeam_channel::bounded::<()>(0);
    let upstream = Upstream::start(move |visit| {
        visit.wire.until(b"\r\n\r\n");
        wait.recv().unwrap();
        let got = visit.wire.exactly(BYTES).len();
        visit.say(&got.to_string());
        visit.wire.send(OK);
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.at(&format!(
        "POST /v1/files HTTP/1.1\r\nHost: localhost:{{port}}\r\nContent-Length: {BYTES}\r\n\r\n"
    )));
    let sent = write_until_stuck(&mut client.stream);
    assert!(sent < BYTES);
    go.send(()).unwrap();
    client.send(vec![b'x'; BYTES - sent]);
    assert_eq!(upstream.hears(), BYTES.to_string());
    assert_eq!(client.message().status(), 200);
}

/// Many idle and half-sent connections hold nobody up.
#[test]
fn idle_connections() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut others: Vec<Client> = (0..400).map(|_| proxy.client()).collect();
    for (index, client) in others.iter_mut().enumerate() {
        if index % 2 == 0 {
            client.send(HALF);
        }
    }
    assert_eq!(
        proxy.client().send(proxy.chat("{}")).message().status(),
        200
    );
    // Each of them still works.
    for (index, client) in others.iter_mut().enumerate() {
        let whole = proxy.chat("{}");
        let start = if index % 2 == 0 { HALF.len() } else { 0 };
        client.send(&whole[start..]);
        assert_eq!(client.message().status(), 200, "{index}");
    }
}

#[test]
fn connection_limit() {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Echo, |config| {
        config.limits.connections_max = 2
    });
    let mut kept: Vec<Client> = (0..2).map(|_| proxy.client()).collect();
    for client in &mut kept {
        assert_eq!(client.send(proxy.get("/health")).message().status(), 200);
    }
    assert_eq!(proxy.client().closed(), "");
    drop(kept.pop());
    // Room is there again once the loop has seen the close.
    loop {
        let mut client = proxy.client();
        client.try_send(proxy.get("/health").as_bytes());
        if client.answers_at_all() {
            break;
        }
    }
}
