//! Much at once, through the whole proxy: what waits for memory gets it, and what is too long is passed on unjudged.

use std::fs;
use std::thread;

use serde_json::json;

use crate::harness::{CHAT, JSON, Places, RING, RING_PUT, Tslp, fenced, prompt};
use crate::upstream::{Answer, Step, Upstream, event, last_events};

/// law 13 | Memory is bounded
#[test]
fn prompts_take_turns() {
    const BODY_BYTES_MAX: usize = 200_000;
    let (places, upstream) = (Places::new(), Upstream::start());
    let limit = BODY_BYTES_MAX.to_string();
    let tslp = Tslp::with(
        &places,
        &upstream.url,
        &["--http-request-body-bytes-max", &limit],
    );
    let bodies: Vec<_> = (0..24)
        .map(|number| {
            prompt(&format!(
                "{number} {}",
                "word ".repeat(BODY_BYTES_MAX / 5 - 30)
            ))
        })
        .collect();
    thread::scope(|scope| {
        for body in &bodies {
            let tslp = &tslp;
            scope.spawn(move || assert_eq!(tslp.chat(body).said(), "ok"));
        }
    });
    let mut large = prompt("q");
    large["more"] = json!("x".repeat(BODY_BYTES_MAX));
    let refused = tslp.chat(&large);
    assert_eq!(refused.status(), 400);
    assert!(refused.text().contains("http.request_body_bytes_max"));
    assert_eq!(tslp.say("still there?").said(), "ok");
    tslp.stop();
}

/// A reply longer than what is kept is passed on and not judged.
#[test]
fn oversized_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.artifact(RING_PUT);
    let changed = fenced("src/ring.c", &RING.replace("return 0;", "return 7;"));
    let text = event(&"a word and another\n".repeat(1000));
    let mut steps: Vec<Step> = (0..80).map(|_| Step::Chunk(text.clone())).collect();
    steps.push(Step::Chunk(event(&changed) + &last_events()));
    upstream.will(Answer::Steps(steps));
    let reply = tslp.say("change `ring_put`");
    assert!(reply.whole && reply.said().ends_with(&changed));
    assert_eq!(tslp.ended(reply.episode())["outcome"], "upstream_broken");
    assert_eq!(tslp.artifact(RING_PUT), before);
    assert!(
        tslp.log().contains("longer than what is kept"),
        "{}",
        tslp.log()
    );
    // The same in as many bytes that can be kept.
    upstream.will_say(changed);
    let reply = tslp.say("change `ring_put` again");
    assert_eq!(tslp.ended(reply.episode())["outcome"], "completed");
    assert_ne!(tslp.artifact(RING_PUT), before);
}

#[test]
fn endless_tool_call() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let piece = "x".repeat(20_000);
    let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "1", "function": {"name": "write_file", "arguments": piece}},
    ]}}]});
    let chunk = format!("data: {delta}\n\n");
    let mut steps: Vec<Step> = (0..80).map(|_| Step::Chunk(chunk.clone())).collect();
    steps.push(Step::Chunk(last_events()));
    upstream.will(Answer::Steps(steps));
    let reply = tslp.request(
        "POST",
        CHAT,
        &[JSON],
        prompt("write").to_string().as_bytes(),
    );
    assert!(reply.whole);
    assert_eq!(tslp.ended(reply.episode())["outcome"], "upstream_broken");
    assert!(
        tslp.log().contains("longer than what is kept"),
        "{}",
        tslp.log()
    );
}

/// The most memory that the proxy ever had, in KiB.
fn peak_kib(tslp: &Tslp<'_>) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", tslp.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.unwrap().parse().unwrap()
}

/// The law's 64 MB hold with settings as they come, whatever is sent at once: what is longer than the bound gets 413.
#[cfg(target_os = "linux")]
#[test]
fn large_bodies() {
    let check = |count: usize, bytes: usize| {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = Tslp::start(&places, &upstream);
        let statuses: Vec<u16> = thread::scope(|scope| {
            let asked: Vec<_> = (0..count)
                .map(|number| {
                    let tslp = &tslp;
                    scope.spawn(move || {
                        let line = format!("{number} {}\n", "x".repeat(2_000));
                        let text = line.repeat(bytes / line.len());
                        tslp.chat(&prompt(&text)).status()
                    })
                })
                .collect();
            asked
                .into_iter()
                .map(|asked| asked.join().unwrap())
                .collect()
        });
        let fits = bytes < 6 << 20;
        // In a crowd, on a busy machine, some may wait for room until their time is up.
        let expected = match (fits, count) {
            (false, _) => [400].as_slice(),
            (true, 1) => &[200],
            (true, _) => &[200, 503],
        };
        let is_expected = |status| expected.contains(status);
        assert!(statuses.iter().all(is_expected), "{statuses:?}");
        assert!(!fits || statuses.contains(&200), "{statuses:?}");
        let peak = peak_kib(&tslp);
        // A binary that isn't optimised has more pages of its own.
        let most = if cfg!(debug_assertions) { 72 } else { 64 };
        assert!(peak <= most << 10, "{count} of {bytes} bytes: {peak} KiB");
        tslp.stop();
    };
    check(1, 5_900_000);
    check(1, 15_000_000);
    check(1, 29_000_000);
    check(4, 7_000_000);
    check(64, 512_000);
}

/// A message whose code takes long to parse keeps nobody else waiting.
#[test]
fn slow_parsing() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let code = |name: &str| -> String {
        let define = |number| {
            format!(
                "int {name}{number}(int a)\n{{\n    if (a) return {number};\n    return a;\n}}\n"
            )
        };
        (0..12_000).map(define).collect()
    };
    let long = tslp.asking(&prompt(&fenced("src/long.c", &code("f"))));
    let short = tslp.asking(&prompt("and how are you?"));
    assert_eq!(upstream.next().conversation(), ["user: and how are you?"]);
    assert_eq!(short.response().said(), "ok");
    assert!(upstream.next().text().contains("int f11999("));
    assert_eq!(long.response().said(), "ok");
    assert!(!tslp.artifact("src/long.c::f0").is_empty());
    tslp.stop();
}
