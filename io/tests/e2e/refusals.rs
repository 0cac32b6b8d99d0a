//! Bad requests, bad upstreams, clients that leave: each gets a clear answer, and nothing recorded is lost.

use serde_json::{Value, json};

use crate::harness::{CHAT, JSON, PATIENCE, Places, RING, Tslp, fenced, prompt};
use crate::ledger_file;
use crate::upstream::{Answer, Step, Upstream, closing, event, events, last_events};
use tslp_scripted::Response;

/// The OpenAI error shape with this code; gives the message.
fn error(response: &Response, status: u16, code: &str) -> String {
    assert_eq!(response.status(), status, "{response:?}");
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    let error = &body["error"];
    let fields: Vec<&String> = error.as_object().expect("an error").keys().collect();
    assert_eq!(fields, ["message", "type", "param", "code"]);
    assert_eq!(error["code"], code, "{error}");
    assert!(error["type"].as_str().unwrap().ends_with("_error"));
    error["message"].as_str().unwrap().to_owned()
}

/// Advice to change a setting names one that there is.
fn names_a_setting(message: &str) {
    let keys = &tslp_io::config::table::KEYS;
    let named = |word: &str| keys.iter().any(|key| key.name == word);
    assert!(message.split('`').any(named), "{message}");
}

/// Bodies that are no chat requests are refused before ledger and upstream.
#[test]
fn bad_bodies() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let arguments = ["--http-request-body-bytes-max", "1000000"];
    let tslp = Tslp::with(&places, &upstream.url, &arguments);
    let check = |body: &[u8], says: &str| {
        let response = tslp.request("POST", CHAT, &[JSON], body);
        let message = error(&response, 400, "invalid_request");
        assert!(message.contains(says), "{message}");
    };
    check(b"", "not a JSON object");
    check(b"{\"messages\":", "not a JSON object");
    check(b"\xff\xfe", "not a JSON object");
    check(b"[]", "not a JSON object");
    check(b"null", "not a JSON object");
    check(b"{} {}", "not a JSON object");
    check(b"{}", "`messages` must be a non-empty array");
    check(br#"{"messages":[]}"#, "non-empty array");
    check(br#"{"messages":{"role":"user"}}"#, "non-empty array");
    check(br#"{"messages":["hello"]}"#, "messages[0]");
    check(br#"{"messages":[["user","hello"]]}"#, "messages[0]");
    check(
        br#"{"messages":[{"role":"user","content":[["x"]]}]}"#,
        "messages[0]",
    );
    check(br#"{"messages":[{"content":"x"}]}"#, "messages[0]");
    check(
        br#"{"messages":[{"role":"user","content":"x"},{"role":7,"content":"x"}]}"#,
        "messages[1]",
    );
    check(
        br#"{"messages":[{"role":"user","content":5}]}"#,
        "messages[0]",
    );
    check(
        br#"{"messages":[{"role":"user","content":{"text":"x"}}]}"#,
        "messages[0]",
    );
    check(
        br#"{"messages":[{"role":"user","content":"a","content":"b"}]}"#,
        "messages[0]",
    );
    check(
        br#"{"messages":[{"role":"user","content":"x"}],"messages":[{"role":"user","content":"y"}]}"#,
        "occurs twice",
    );
    check(
        br#"{"model":"a","messages":[{"role":"user","content":"x"}],"model":"b"}"#,
        "occurs twice",
    );
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(200_000), close.repeat(200_000));
        format!(r#"{{"messages":[{{"role":"user","content":{open}{close}}}]}}"#)
    };
    check(deep("[", "]").as_bytes(), "messages[0]");
    assert!(upstream.saw_nothing());
    assert_eq!(ledger_file::events(&places.data), 0);
    assert_eq!(tslp.say("still here").episode(), 1);
}

/// Requests of the wrong kind are refused before ledger and upstream.
#[test]
fn wrong_requests() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let arguments = ["--http-request-body-bytes-max", "4096"];
    let tslp = Tslp::with(&places, &upstream.url, &arguments);
    let body = prompt("hello").to_string();
    let post = |fields: &[(&str, &str)], body: &[u8]| tslp.request("POST", CHAT, fields, body);
    for form in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let form = [("Content-Type", form)];
        error(&post(&form, body.as_bytes()), 400, "content_type");
    }
    for coding in ["gzip", "deflate", "zstd", "br"] {
        let zipped = [JSON, ("Content-Encoding", coding)];
        let message = error(&post(&zipped, b"\x1f\x8b\x08"), 400, "content_encoding");
        assert!(message.contains("enable_request_compression"), "{message}");
    }
    let large = prompt(&"x".repeat(5000)).to_string();
    let message = error(&post(&[JSON], large.as_bytes()), 400, "body_too_large");
    assert!(message.contains("4096"), "{message}");
    let foreign = [JSON, ("Origin", "https://evil.example")];
    let message = error(&post(&foreign, body.as_bytes()), 400, "foreign_origin");
    names_a_setting(&message);
    for (method, path) in [
        ("GET", CHAT),
        ("DELETE", CHAT),
        ("POST", "/state"),
        ("PUT", "/doctor"),
    ] {
        let response = tslp.request(method, path, &[JSON], b"");
        error(&response, 405, "method_not_allowed");
        assert!(response.header("allow").is_some(), "{method} {path}");
    }
    assert!(upstream.saw_nothing());
    assert_eq!(ledger_file::events(&places.data), 0);
}

/// law 14.4 | `/memory`, `/search`, `/replay`, `/summaries`, `/similar` and `/rewrite` don't exist
/// law 14.4 | Six endpoints that must not exist
#[test]
fn forbidden_routes() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let forbidden = [
        "/memory",
        "/search",
        "/replay",
        "/summaries",
        "/similar",
        "/rewrite",
    ];
    let unknown = [
        "/v1",
        "/api",
        "/v2/models",
        "/chat/completions",
        "/state/x",
        "/debug/last-prompt",
        "/STATE",
    ];
    for path in forbidden.into_iter().chain(unknown) {
        for method in ["GET", "POST"] {
            error(
                &tslp.request(method, path, &[JSON], b""),
                404,
                "unknown_route",
            );
        }
    }
    assert!(upstream.saw_nothing());
}

#[test]
fn upstream_down() {
    let (places, upstream) = (Places::new(), Upstream::start());
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let tslp = Tslp::with(&places, &url, &[]);
    let response = tslp.request(
        "POST",
        CHAT,
        &[JSON],
        prompt("hello").to_string().as_bytes(),
    );
    let message = error(&response, 400, "upstream_unreachable");
    assert!(
        message.contains("--upstream") && message.contains(&url),
        "{message}"
    );
    assert_eq!(tslp.ended(1)["outcome"], "upstream_unreachable");
    error(&tslp.get("/v1/models"), 502, "upstream_unreachable");
    let doctor = tslp.page("/doctor");
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "upstream");
    assert_eq!(check.unwrap()["status"], "warning");
    assert!(upstream.saw_nothing());
}

/// What a server answers in place of a reply is told at a status that clients show, with what to do; what they show as it is stays so.
#[test]
fn failed_answers() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let page = "<!doctype html><title>Oh</title><p>No such thing";
    // The server's status and body; the status for chat completions and for messages, whether asking again may help, and words.
    let cases = [
        (
            401,
            r#"{"error":{"message":"bad key"}}"#,
            [401, 400],
            false,
            "(\"bad key\"); set the server's key",
        ),
        (
            403,
            "Forbidden",
            [400, 400],
            false,
            "(\"Forbidden\"); set the server's key",
        ),
        (405, "", [400, 400], false, "it doesn't speak that"),
        (501, page, [400, 400], false, "; it doesn't speak that"),
        (
            404,
            r#"{"error":{"message":"model 'm' is unknown"}}"#,
            [404, 400],
            false,
            "model 'm' is unknown",
        ),
        (
            422,
            r#"{"detail":"too hot"}"#,
            [400, 400],
            false,
            "(\"too hot\"); the request",
        ),
        (
            500,
            r#"{"error":"it requires more memory"}"#,
            [400, 400],
            false,
            "it requires more memory",
        ),
        (
            503,
            "loading",
            [503, 503],
            true,
            "(\"loading\"); send it again",
        ),
        (
            429,
            r#"{"error":{"message":"slowly"}}"#,
            [429, 429],
            true,
            "slowly",
        ),
    ];
    for (status, body, told, may_pass, words) in cases {
        for (path, told) in [CHAT, "/v1/messages"].into_iter().zip(told) {
            upstream.will(Answer::Plain(status, "text/plain", body.into()));
            let request = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]});
            let response = tslp.request("POST", path, &[JSON], request.to_string().as_bytes());
            assert_eq!(
                response.status(),
                told,
                "{status} {body} {}",
                response.text()
            );
            let message = response.json()["error"]["message"]
                .as_str()
                .unwrap()
                .to_owned();
            assert!(message.contains(words), "{words} in {message}");
            let is_own = response.text() != body;
            let forbidden = response.header("x-should-retry") == Some("false");
            assert!(!is_own || forbidden != may_pass, "{status} {body}");
        }
    }
    upstream.will(Answer::Plain(200, "text/html", page.into()));
    let message = error(&tslp.chat(&prompt("hello")), 400, "upstream_lacks_route");
    assert!(message.contains("that is no model server"), "{message}");
}

/// A base URL without its `/v1`, or with two, is told in the dialect of the client.
#[test]
fn wrong_base() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for (path, status, base) in [
        ("/chat/completions", 404, "/v1"),
        ("/v1/v1/chat/completions", 404, "/v1"),
        ("/v1/v1/messages", 400, ""),
        ("/messages", 400, ""),
        ("/responses", 400, "/v1"),
        ("/v1/api/chat", 404, ""),
    ] {
        let response = tslp.request("POST", path, &[JSON], b"{}");
        assert_eq!(response.status(), status, "{path}");
        let body = response.json();
        let message = body["error"]["message"].as_str().or(body["error"].as_str());
        let message = message.unwrap();
        let end = format!(
            "set the client's base URL to http://{}{base}",
            tslp.address()
        );
        assert!(message.ends_with(&end), "{message}");
    }
    assert!(upstream.saw_nothing());
}

#[test]
fn error_status() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let body = br#"{"error":{"code":400,"message":"context","n_ctx":512,"n_prompt_tokens":900}}"#;
    upstream.will(Answer::Plain(
        400,
        "application/json; charset=utf-8",
        body.to_vec(),
    ));
    let response = tslp.chat(&prompt("hello"));
    assert_eq!(response.status(), 400);
    assert_eq!(response.body, body);
    let media_type = response.header("content-type");
    assert_eq!(media_type, Some("application/json; charset=utf-8"));
    assert_eq!(tslp.last_episode()["outcome"], "upstream_refused_400");
}

#[test]
fn reset_in_the_middle() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (go_on, barrier) = crate::upstream::barrier();
    let steps = vec![
        Step::Chunk(event(&fenced("src/ring.c", RING))),
        barrier,
        Step::Reset,
    ];
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("write `ring_put`"));
    client.until("ring_put");
    go_on.send(()).unwrap();
    let response = client.response();
    assert!(!response.whole);
    let text = response.text();
    let last = text.trim_end().lines().last().unwrap();
    let event: Value = serde_json::from_str(last.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(event["error"]["code"], "upstream_broke");
    assert!(!text.contains("[DONE]"), "{text}");
    let episode = tslp.ended(response.episode());
    assert_eq!(episode["outcome"], "upstream_broken");
    assert_eq!(tslp.state(), json!({}));
}

/// A stream that ends without saying so is no completion.
#[test]
fn unannounced_end() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let steps = vec![Step::Chunk(event(&fenced("src/ring.c", RING)))];
    upstream.will(Answer::Steps(steps));
    let response = tslp.chat(&prompt("write `ring_put`"));
    assert!(!response.text().contains("[DONE]"));
    assert_eq!(tslp.last_episode()["outcome"], "upstream_broken");
    assert_eq!(tslp.state(), json!({}));
}

#[test]
fn error_event() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let chunks = [
        event(&fenced("src/ring.c", RING)),
        "data: {\"error\":{\"message\":\"out of memory\"}}\n\n".into(),
    ];
    let sent = chunks.concat();
    upstream.will(Answer::Steps(chunks.map(Step::Chunk).into()));
    let response = tslp.chat(&prompt("write `ring_put`"));
    assert_eq!(response.text(), sent);
    assert_eq!(tslp.last_episode()["outcome"], "upstream_broken");
    assert_eq!(tslp.state(), json!({}));
}

#[test]
fn client_leaves() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (told, stall) = closing();
    let steps = vec![Step::Chunk(event(&fenced("src/ring.c", RING))), stall];
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("write `ring_put`"));
    client.until("ring_put");
    drop(client);
    told.recv_timeout(PATIENCE).expect("the upstream is closed");
    assert_eq!(tslp.ended(1)["outcome"], "client_gone");
    assert_eq!(tslp.state(), json!({}));
}

/// A client that leaves after the reply's last word still gets it recorded.
#[test]
fn client_leaves_at_end() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (told, stall) = closing();
    let text = fenced("src/ring.c", RING);
    let mut steps: Vec<Step> = events(&text).into_iter().map(Step::Chunk).collect();
    assert!(matches!(steps.pop(), Some(Step::Chunk(last)) if last == last_events()));
    let finish = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    steps.push(Step::Chunk(format!("data: {finish}\n\n")));
    steps.push(stall);
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("write `ring_put`"));
    client.until("\"stop\"");
    drop(client);
    told.recv_timeout(PATIENCE).expect("the upstream is closed");
    assert_eq!(tslp.ended(1)["outcome"], "completed");
    assert_eq!(tslp.state()[crate::harness::RING_PUT]["origin"], "model");
}

#[test]
fn client_leaves_early() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let (told, stall) = closing();
    upstream.will(Answer::Silence(stall));
    let client = tslp.asking(&prompt("hello"));
    upstream.next();
    drop(client);
    told.recv_timeout(PATIENCE).expect("the upstream is closed");
    assert_eq!(tslp.ended(1)["outcome"], "client_gone");
}

#[test]
fn silent_upstream() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let limits = ["--http-idle-seconds", "1", "--http-first-byte-seconds", "1"];
    let tslp = Tslp::with(&places, &upstream.url, &limits);
    let (told, stall) = closing();
    upstream.will(Answer::Silence(stall));
    let response = tslp.request(
        "POST",
        CHAT,
        &[JSON],
        prompt("hello").to_string().as_bytes(),
    );
    let message = error(&response, 400, "upstream_first_byte_timeout");
    names_a_setting(&message);
    told.recv_timeout(PATIENCE).expect("the upstream is closed");
    assert_eq!(tslp.ended(1)["outcome"], "upstream_unreachable");

    let (told, stall) = closing();
    let steps = vec![Step::Chunk(event(&fenced("src/ring.c", RING))), stall];
    upstream.will(Answer::Steps(steps));
    let response = tslp.chat(&prompt("hello"));
    assert!(!response.whole && !response.text().contains("[DONE]"));
    assert!(response.text().contains("\"error\""), "{}", response.text());
    names_a_setting(&response.text());
    told.recv_timeout(PATIENCE).expect("the upstream is closed");
    assert_eq!(tslp.last_episode()["outcome"], "upstream_broken");
    assert_eq!(tslp.state(), json!({}));
}

#[test]
fn paths_leading_out() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for path in ["../ring.c", "src/../../ring.c", "/etc/ring.c", "C:/ring.c"] {
        tslp.say(&fenced(path, RING));
        assert_eq!(tslp.state(), json!({}), "{path}");
        let notices = &tslp.last_episode()["notices"];
        assert_eq!(notices.as_array().unwrap().len(), 1, "{path}: {notices}");
    }
    let absolute = places.workspace.join("src/ring.c");
    tslp.say(&fenced(absolute.to_str().unwrap(), RING));
    assert_eq!(tslp.state()[crate::harness::RING_PUT]["origin"], "user");
}

#[test]
fn many_conversations() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let asking: Vec<_> = (0..32)
        .map(|number| {
            let name = format!("function_{number}");
            let code = format!("int {name}(void) {{\n    return {number};\n}}\n");
            let mut request = prompt(&fenced(&format!("src/{name}.c"), &code));
            request["stream"] = json!(number % 2 == 0);
            tslp.asking(&request)
        })
        .collect();
    let mut episodes: Vec<u64> = asking
        .into_iter()
        .map(|client| {
            let response = client.response();
            assert_eq!(response.said(), "ok");
            response.episode()
        })
        .collect();
    for episode in &episodes {
        assert_eq!(tslp.ended(*episode)["outcome"], "completed");
    }
    episodes.sort_unstable();
    assert_eq!(episodes, (1..=32).collect::<Vec<u64>>());
    assert_eq!(tslp.state().as_object().unwrap().len(), 32);
    assert_eq!(tslp.page("/doctor")["ok"], true);
}

/// law 13 | Memory stays bounded
/// law 13 | Memory is bounded
#[test]
fn flood_of_code() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let floods = [
        "```c:src/a.c\n".repeat(20_000),
        format!("```c:src/a.c\n{}\n```\n", "{".repeat(200_000)),
        format!("```c:src/a.c\n{}```\n", "int x;\n".repeat(400_000)),
        format!(
            "```c:src/a.c\nint f(void) {{ return {}; }}\n```\n",
            "1+".repeat(100_000)
        ),
        "[CURRENT STATE: AUTHORITATIVE]\n".repeat(20_000),
        "`a_b` ".repeat(200_000),
        "\u{0}\u{202e}../..".repeat(50_000),
    ];
    for flood in floods {
        let response = tslp.say(&flood);
        assert_eq!(response.said(), "ok");
    }
    assert_eq!(tslp.page("/doctor")["ok"], true);
}
