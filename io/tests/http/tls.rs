//! Upstreams behind TLS: verified with the extra CA, refused without.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use tslp_core::event::AuditOutcome;
use tslp_io::auditor::Auditor;
use tslp_io::auditor::queue::AuditQueue;
use tslp_io::channel::ToEngine;
use tslp_io::config::settings::Settings;
use tslp_io::config::upstream::UpstreamUrl;

use crate::harness::{Engine, PATIENCE, Proxy, audit};

/// How the server ends a response that has no length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goodbye {
    Said,
    Missing,
}

/// A TLS server for `localhost`; gives its base address and its certificate's file.
fn server(goodbye: Goodbye) -> (String, PathBuf) {
    server_of(goodbye, vec![b'x'; 300_000])
}

fn server_of(goodbye: Goodbye, body: Vec<u8>) -> (String, PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (config, body) = (Arc::clone(&config), body.clone());
            thread::spawn(move || serve(config, stream.unwrap(), goodbye, &body));
        }
    });
    let file = std::env::temp_dir().join(format!("tslp-tls-{}-{port}.pem", std::process::id()));
    std::fs::write(&file, made.cert.pem()).unwrap();
    (format!("https://localhost:{port}"), file)
}

fn serve(config: Arc<ServerConfig>, stream: std::net::TcpStream, goodbye: Goodbye, body: &[u8]) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut seen = Vec::new();
    let mut piece = [0; 4096];
    while !seen.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => seen.extend_from_slice(&piece[..count]),
            _ => return,
        }
    }
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
        .and_then(|()| stream.write_all(body));
    if goodbye == Goodbye::Said {
        stream.conn.send_close_notify();
    }
    let _ = stream.flush();
    // Closing with unread bytes would reset the connection and destroy the response.
    let _ = stream.sock.shutdown(std::net::Shutdown::Write);
    while stream.sock.read(&mut piece).is_ok_and(|count| count > 0) {}
}

#[test]
fn extra_ca() {
    let (url, file) = server(Goodbye::Said);
    let proxy = Proxy::with(&url, Engine::Echo, |config| {
        config.upstream.ca_file = Some(file.clone())
    });
    for request in [proxy.get("/v1/models"), proxy.chat("{}")] {
        let response = proxy.client().send(request).message();
        assert_eq!(
            (response.status(), response.body.len()),
            (200, 300_000),
            "{}",
            response.text()
        );
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn unknown_certificate() {
    let (url, file) = server(Goodbye::Said);
    let proxy = Proxy::start(&url, Engine::Echo);
    let response = proxy.client().send(proxy.get("/v1/models")).message();
    assert_eq!(response.status(), 502);
    assert!(
        response.text().contains("TLS: invalid peer certificate"),
        "{}",
        response.text()
    );
    std::fs::remove_file(file).unwrap();
}

#[test]
fn no_goodbye() {
    // Anyone on the path can cut a TCP connection; only TLS's own goodbye ends a body without a length.
    let (url, file) = server(Goodbye::Missing);
    let proxy = Proxy::with(&url, Engine::Echo, |config| {
        config.upstream.ca_file = Some(file.clone())
    });
    let mut client = proxy.client();
    client.send(proxy.chat("{}"));
    let text = client.closed();
    assert!(text.starts_with("HTTP/1.1 200 OK") && !text.ends_with("0\r\n\r\n"));
    proxy.wait_for("end UpstreamBroken");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn missing_ca_file() {
    let (url, file) = server(Goodbye::Said);
    std::fs::remove_file(&file).unwrap();
    let proxy = Proxy::with(&url, Engine::Echo, |config| {
        config.upstream.ca_file = Some(file)
    });
    let response = proxy.client().send(proxy.get("/v1/models")).message();
    assert!(response.text().contains("CA file"), "{}", response.text());
}

/// What becomes of an audit of the upstream at `url`.
fn audited(url: &str, ca_file: Option<PathBuf>) -> (AuditOutcome, Option<String>) {
    let mut settings = Settings::for_upstream(UpstreamUrl::parse(url).unwrap());
    settings.upstream.ca_file = ca_file;
    settings.timeouts.connect = PATIENCE;
    settings.timeouts.audit = PATIENCE;
    let queue = AuditQueue::default();
    let (to_engine, told) = crossbeam_channel::bounded(1);
    let auditor = Auditor::new(Arc::new(settings), queue.clone(), to_engine);
    let thread = auditor.spawn().unwrap();
    queue.ask(audit());
    let Ok(ToEngine::Audited {
        outcome, answer, ..
    }) = told.recv_timeout(PATIENCE)
    else {
        panic!("the auditor tells what came of it");
    };
    queue.close();
    thread.join().unwrap();
    (outcome, answer)
}

#[test]
fn audit_trusts_no_stranger() {
    let body = br#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#;
    let (url, file) = server_of(Goodbye::Said, body.to_vec());
    let said = (AuditOutcome::Answered, Some("fine".to_owned()));
    assert_eq!(audited(&url, Some(file.clone())), said);
    assert_eq!(audited(&url, None), (AuditOutcome::Failed, None));
    std::fs::remove_file(file).unwrap();
}
