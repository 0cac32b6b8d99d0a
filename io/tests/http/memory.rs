//! The memory of prompts in flight: who waits for it, who passes, and who gives it back.

use std::io::ErrorKind;
use std::time::Duration;

use tslp_io::channel::{ExchangeId, OwnAnswer, ToEngine, ToLoop};
use tslp_io::config::settings::Settings;

use crate::harness::{Client, Engine, OK, Proxy, Upstream};

const LARGEST: usize = 8 << 20;

/// The beginning of a chat request whose body comes chunked.
const CHUNKED: &str = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

fn with_largest(config: &mut Settings) {
    config.limits.chat_body_bytes_max = LARGEST as u64;
}

/// A proxy whose engine works on a body that leaves no room for another of the largest size, and that body's exchange.
fn busy(adjust: impl FnOnce(&mut Settings)) -> (Proxy, Client, ExchangeId) {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Silent, |config| {
        with_largest(config);
        adjust(config);
    });
    let mut client = proxy.client();
    client.send(proxy.chat(&body('a', LARGEST - (1 << 20))));
    let exchange = prompt(&proxy, 'a');
    (proxy, client, exchange)
}

fn body(letter: char, bytes: usize) -> String {
    letter.to_string().repeat(bytes)
}

/// The exchange of the next prompt that the engine gets, which is of this letter.
fn prompt(proxy: &Proxy, letter: char) -> ExchangeId {
    proxy.note();
    match proxy.raw.recv().unwrap() {
        ToEngine::Prompt { exchange, body, .. } => {
            assert_eq!(char::from(body[0]), letter);
            exchange
        }
        other => panic!("a prompt, not {other:?}"),
    }
}

/// The engine has done with a prompt, and nothing of it goes upstream.
fn answer(proxy: &Proxy, exchange: ExchangeId) {
    proxy.handle.send(ToLoop::Answer {
        exchange,
        answer: OwnAnswer::json(400, b"{}".to_vec()),
    });
}

fn heard_nothing(client: &Client) -> bool {
    client.stream.set_nonblocking(true).unwrap();
    let peeked = client.stream.peek(&mut [0]);
    client.stream.set_nonblocking(false).unwrap();
    matches!(peeked, Err(error) if error.kind() == ErrorKind::WouldBlock)
}

fn asking_first(proxy: &Proxy, bytes: usize) -> String {
    proxy.at(&format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{{port}}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {bytes}\r\n\r\n"
    ))
}

/// A body over the limit gets an error and the name of the setting.
#[test]
fn over_the_limit() {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Silent, with_largest);
    for request in [
        asking_first(&proxy, LARGEST + 1),
        proxy.at(CHUNKED) + &format!("{:x}\r\n{}", LARGEST + 1, body('a', LARGEST + 1)),
    ] {
        let mut client = proxy.client();
        client.try_send(request.as_bytes());
        let refused = client.message();
        assert_eq!(refused.status(), 400);
        for word in [&*LARGEST.to_string(), "http.request_body_bytes_max"] {
            assert!(refused.text().contains(word), "{}", refused.text());
        }
    }
    assert!(proxy.nothing_noted());
}

/// A body that does not fit waits and goes on when there is room.
#[test]
fn body_without_room() {
    let (proxy, mut first, exchange) = busy(|_| {});
    let mut asking = proxy.client();
    asking.send(asking_first(&proxy, LARGEST));
    // Those that are small pass meanwhile.
    let mut small = proxy.client();
    small.send(proxy.chat(&body('s', 1000)));
    prompt(&proxy, 's');
    assert!(heard_nothing(&asking), "it isn't asked for its body yet");
    answer(&proxy, exchange);
    assert_eq!(first.message().status(), 400);
    assert_eq!(asking.head_only().status(), 100);
    asking.send(body('b', LARGEST));
    prompt(&proxy, 'b');
}

/// A body that finds no room in time gets 503 and when to come again.
#[test]
fn no_room_in_time() {
    let (proxy, _first, _) = busy(|config| {
        config.timeouts.body_idle = Duration::from_millis(50);
    });
    let mut second = proxy.client();
    second.try_send(proxy.chat(&body('b', LARGEST)).as_bytes());
    let refused = second.message();
    assert_eq!(refused.status(), 503);
    assert!(refused.header("retry-after").is_some(), "{}", refused.head);
    assert!(
        refused.text().contains("no_memory_now"),
        "{}",
        refused.text()
    );
    assert!(proxy.nothing_noted());
}

/// A client that leaves while it waits gives its place to others.
#[test]
fn waiting_client_leaves() {
    let (proxy, _first, _) = busy(|_| {});
    let mut asking = proxy.client();
    asking.send(asking_first(&proxy, LARGEST));
    let small = |letter: char, bytes: usize| {
        let mut client = proxy.client();
        client.send(proxy.chat(&body(letter, bytes)));
        client
    };
    let _small = small('s', 200_000);
    prompt(&proxy, 's');
    // There is room for this, but not beside the body that came before.
    let _next = small('t', 250_000);
    let _least = small('u', 1000);
    prompt(&proxy, 'u');
    drop(asking);
    prompt(&proxy, 't');
}

/// A client that leaves is charged until the engine is done with its prompt.
#[test]
fn charged_after_leaving() {
    let (proxy, first, exchange) = busy(|_| {});
    drop(first);
    let mut asking = proxy.client();
    asking.send(asking_first(&proxy, LARGEST));
    let mut small = proxy.client();
    small.send(proxy.chat(&body('s', 1000)));
    prompt(&proxy, 's');
    assert!(heard_nothing(&asking));
    answer(&proxy, exchange);
    assert_eq!(asking.head_only().status(), 100);
}

/// Half-read bodies of unknown length do not keep each other from their ends.
#[test]
fn half_read_bodies() {
    const BYTES: usize = 180_000;
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, |config| {
        config.limits.chat_body_bytes_max = 200_000;
    });
    let half = format!("{:x}\r\n{}\r\n", BYTES / 2, body('h', BYTES / 2));
    let mut clients: Vec<Client> = (0..30).map(|_| proxy.client()).collect();
    for client in &mut clients {
        client.send(proxy.at(CHUNKED)).send(&half);
    }
    for client in clients.iter_mut().rev() {
        client.send(&half).send("0\r\n\r\n");
    }
    for client in &mut clients {
        assert_eq!(client.message().status(), 200);
        assert_eq!(upstream.next().body.len(), BYTES);
    }
}

/// Who announces a body and sends nothing keeps nobody waiting.
#[test]
fn announced_and_unsent() {
    let upstream = Upstream::answering(OK);
    let proxy = Proxy::with(&upstream.url, Engine::Echo, with_largest);
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:{{port}}\r\nContent-Type: application/json\r\nContent-Length: {LARGEST}\r\n\r\n"
    );
    let mut idle: Vec<Client> = (0..50).map(|_| proxy.client()).collect();
    for client in &mut idle {
        client.send(proxy.at(&head));
    }
    let mut client = proxy.client();
    assert_eq!(
        client
            .send(proxy.chat(&body('b', LARGEST)))
            .message()
            .status(),
        200
    );
}

/// A body that comes steadily but never ends gives its room back.
#[test]
fn endless_body() {
    let proxy = Proxy::with("http://127.0.0.1:9", Engine::Silent, |config| {
        with_largest(config);
        config.timeouts.body_idle = Duration::from_millis(40);
    });
    let mut dripping = proxy.client();
    let request = proxy.chat(&body('d', LARGEST));
    let mut bytes = request.as_bytes().chunks(1);
    let ended = loop {
        let Some(byte) = bytes.next() else {
            break false;
        };
        dripping.try_send(byte);
        if !heard_nothing(&dripping) {
            break true;
        }
    };
    assert!(ended, "the loop waited for all of it");
    assert_eq!(dripping.message().status(), 408);
}
