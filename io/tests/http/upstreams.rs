//! Upstreams that are missing, slow, or gone; connections that are kept and reused.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use tslp_io::config::upstream::UpstreamSetting;

use crate::harness::{Engine, OK, Proxy, Upstream};

#[test]
fn no_upstream() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{free}");
    let proxy = Proxy::start(&url, Engine::Echo);
    for (request, status) in [(proxy.chat("{}"), 400), (proxy.get("/v1/models"), 502)] {
        let mut client = proxy.client();
        let response = client.send(request).message();
        assert_eq!(response.status(), status);
        let text = response.text();
        assert!(text.contains(&url) && text.contains("--upstream"), "{text}");
        assert_eq!(
            client.send(proxy.get("/health")).message().status(),
            200,
            "the connection lives on"
        );
    }
    proxy.wait_for("end UpstreamUnreachable");
}

#[test]
fn unresolvable_name() {
    let proxy = Proxy::start("http://nowhere.invalid:1", Engine::Echo);
    let response = proxy.client().send(proxy.chat("{}")).message();
    assert_eq!(response.status(), 400);
    assert!(
        response.text().contains("http://nowhere.invalid:1"),
        "{}",
        response.text()
    );
}

#[test]
fn localhost_unresolved() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::start(
        &upstream.url.replace("127.0.0.1", "localhost"),
        Engine::Echo,
    );
    assert_eq!(
        proxy
            .client()
            .send(proxy.get("/v1/models"))
            .message()
            .status(),
        200
    );
}

#[test]
fn silent_upstream() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.wire.rest();
        visit.say("closed");
    });
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.timeouts.first_byte = Duration::from_millis(50);
    });
    let response = proxy.client().send(proxy.chat("{}")).message();
    assert_eq!(response.status(), 400);
    assert!(
        response.text().contains("http.first_byte_seconds"),
        "{}",
        response.text()
    );
    assert_eq!(upstream.hears(), "closed");
    proxy.wait_for("end UpstreamUnreachable");
}

#[test]
fn stream_falls_silent() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit
            .wire
            .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
        visit.wire.rest();
    });
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.timeouts.upstream_idle = Duration::from_millis(50);
    });
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    assert!(client.closed().contains("http.idle_seconds"));
    proxy.wait_for("end UpstreamBroken");
}

#[test]
fn connection_reused() {
    let upstream = Upstream::start(|visit| {
        while visit.request() {
            visit.say(&visit.number.to_string());
            visit.wire.try_send(OK);
        }
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    for request in [
        proxy.get("/v1/models"),
        proxy.chat("{}"),
        proxy.get("/v1/models"),
    ] {
        assert_eq!(client.send(request).message().status(), 200);
        assert_eq!(upstream.hears(), "1");
    }
}

/// A kept connection that died costs one more try.
#[test]
fn dead_kept_connection() {
    // The first connection takes a second request and resets without an answer.
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.wire.try_send(OK);
        if visit.number == 1 {
            visit.request();
            visit.say("dropped");
        } else {
            while visit.request() {
                visit.wire.try_send(OK);
            }
        }
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    for _ in 0..3 {
        assert_eq!(client.send(proxy.chat("{\"a\":1}")).message().status(), 200);
    }
    assert_eq!(upstream.hears(), "dropped");
    for _ in 0..4 {
        assert_eq!(upstream.next().text(), "{\"a\":1}");
    }
}

/// A request that cannot be repeated is not sent again.
#[test]
fn unrepeatable_request() {
    let upstream = Upstream::start(|visit| {
        visit.request();
        visit.say("closed without a word");
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let request =
        proxy.at("POST /v1/files HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(proxy.client().send(request).message().status(), 502);
    assert_eq!(upstream.hears(), "closed without a word");
    assert!(upstream.said.is_empty() && upstream.seen.len() == 1);
}

#[test]
fn early_answer() {
    let upstream = Upstream::start(|visit| {
        visit.wire.until(b"\r\n\r\n");
        visit
            .wire
            .send("HTTP/1.1 413 Too Much\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig");
        visit.wire.rest();
    });
    let proxy = Proxy::start(&upstream.url, Engine::Echo);
    let mut client = proxy.client();
    client.send(proxy.at(
        "POST /v1/files HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 100000\r\n\r\nx",
    ));
    let response = client.message();
    assert_eq!((response.status(), response.text().as_str()), (413, "big"));
    assert_eq!(client.closed(), "");
}

/// Where no model server was found, a request is told at once what to start.
#[test]
fn none_found() {
    // Unless this machine has one.
    if TcpStream::connect("127.0.0.1:11434").is_ok() {
        return;
    }
    let proxy = Proxy::with("http://127.0.0.1:1", Engine::Echo, |config| {
        config.upstream.named.place = UpstreamSetting::Auto;
    });
    for (request, status) in [(proxy.chat("{}"), 400), (proxy.get("/v1/models"), 502)] {
        let answer = proxy.client().send(request).message();
        assert_eq!(answer.status(), status);
        let said = answer.text();
        assert!(
            said.contains("start Ollama") && said.contains("--upstream URL"),
            "{said}"
        );
    }
}
