//! Shadow audits: what is asked once a reply is out, what its answer can do, and that nobody ever waits for it.

use std::io::Write;
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::agents::{called, calls, request};
use crate::authors::{self, PATHS, Turn, says};
use crate::harness::{
    CHAT, JSON, PATIENCE, Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, eventually, fenced,
    prompt, user,
};
use crate::ledger_file::kinds;
use crate::upstream::{
    Answer, Request, Step, Upstream, barrier, closing, completion, event, last_events,
};

const STRICT: [&str; 2] = ["--profile", "strict"];

/// The answer that the auditor is asked for.
fn verdict(status: &str) -> String {
    json!({"entity": RING_PUT, "status": status}).to_string()
}

/// The user pastes the function; the upstream's next reply improves it.
fn pasted<'p>(places: &'p Places, upstream: &Upstream, arguments: &[&str]) -> Tslp<'p> {
    let tslp = Tslp::with(places, &upstream.url, arguments);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp
}

/// The audits of the last episode, once they aren't awaited any more.
fn audits(tslp: &Tslp<'_>) -> Value {
    eventually(|| {
        let audits = tslp.last_episode()["audits"].clone();
        let is_awaited = |audit: &Value| audit["status"] == "awaited";
        let mut all = audits.as_array().unwrap().iter();
        (all.len() > 0 && !all.any(is_awaited)).then_some(audits)
    })
}

fn check_audit(tslp: &Tslp<'_>, status: &str) {
    assert_eq!(
        audits(tslp),
        json!([{"entity": RING_PUT, "status": status}])
    );
}

fn is_audit(seen: &Request) -> bool {
    seen.system().starts_with("You audit code changes.")
}

fn check_promoted(tslp: &Tslp<'_>) {
    check_audit(tslp, "completed");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    let episode = tslp.last_episode();
    let states = episode["artifact_states"].as_array().unwrap();
    let promoted = json!({"entity": RING_PUT, "reason": "shadow_audit", "state": "AUTHORITATIVE"});
    assert!(states.contains(&promoted), "{episode}");
}

/// law 10 | The user's stream comes at once, the audit after it, in one turn
#[test]
fn answer_in_time() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    upstream.will_say(verdict("completed"));
    let reply = tslp.say("improve `ring_put`, please");
    upstream.next();
    let asked = upstream.next();
    assert!(is_audit(&asked), "{}", asked.text());
    assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
    let request = asked.json();
    assert_eq!(
        (
            &request["model"],
            &request["stream"],
            &request["temperature"]
        ),
        (&json!("m"), &json!(false), &json!(0))
    );
    let question = asked.conversation().concat();
    for part in ["improve `ring_put`, please", RING_PUT, "r->count += 1;"] {
        assert!(question.contains(part), "{question}");
    }
    check_promoted(&tslp);
    // It is no episode of its own.
    assert_eq!(tslp.last_episode()["episode_id"], reply.episode());
    let kinds = kinds(&places.data);
    let count = |kind: &str| kinds.get(kind).copied();
    assert_eq!(count("prompt_received"), Some(2), "{kinds:?}");
    assert_eq!(count("audit_asked"), Some(1), "{kinds:?}");
    assert_eq!(count("audit_answered"), Some(1), "{kinds:?}");
    let (_, state) = places.cli_json(&["state"]);
    assert!(
        state["entities"][RING_PUT]["contested"].is_null(),
        "{state}"
    );
}

/// Answers in a fence or after reasoning count.
#[test]
fn wrapped_answers() {
    let check = |answer: String| {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = pasted(&places, &upstream, &STRICT);
        upstream.will_say(answer);
        tslp.say("improve `ring_put`");
        check_promoted(&tslp);
    };
    check(format!("```json\n{}\n```", verdict("completed")));
    check(format!(
        "<think>\nIs {{it}} done? Yes.\n</think>\n\n{}",
        verdict("completed")
    ));
}

/// What an audit finds partial stays a proposal, and the next prompt says so.
#[test]
fn found_partial() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let before = tslp.state();
    let mut talk = Talk::new(&tslp);
    upstream.will_say(verdict("partial"));
    talk.ask("improve `ring_put`");
    check_audit(&tslp, "partial");
    assert_eq!(tslp.state(), before);
    upstream.next();
    upstream.next();
    talk.ask("and now?");
    let system = upstream.next().system();
    let notice = format!("An audit doubts that the last change to {RING_PUT} is complete.");
    assert!(system.contains(&notice), "{system}");
}

#[test]
fn answer_without_json() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let before = tslp.state();
    upstream.will_say("It is completed, I think.");
    tslp.say("improve `ring_put`");
    check_audit(&tslp, "no_answer");
    assert_eq!(tslp.state(), before);
}

#[test]
fn failed_requests() {
    let check = |reply: Answer| {
        let (places, upstream) = (Places::new(), Upstream::start());
        let tslp = pasted(&places, &upstream, &STRICT);
        let before = tslp.state();
        upstream.will(reply);
        tslp.say("improve `ring_put`");
        check_audit(&tslp, "failed");
        assert_eq!(tslp.state(), before);
    };
    let error = br#"{"error":{"message":"no"}}"#.to_vec();
    check(Answer::Plain(500, "application/json", error));
    check(Answer::Plain(200, "text/html", b"<html>".to_vec()));
    check(Answer::Silence(Step::Reset));
    // An endless answer.
    let piece = event(&"x".repeat(4000));
    let long = (0..100).map(|_| Step::Chunk(piece.clone())).collect();
    check(Answer::Steps(long));
}

#[test]
fn upstream_gone() {
    let places = Places::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        tslp_scripted::read_request(&mut std::io::BufReader::new(&stream)).unwrap();
        let body = completion(&fenced("src/ring.c", RING)).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
    });
    // Without asking how much its models read.
    let tslp = Tslp::with(
        &places,
        &url,
        &[
            &STRICT[..],
            &["--budget-tokens", "4096", "--window-guard", "off"],
        ]
        .concat(),
    );
    tslp.say("write `ring_put` in src/ring.c");
    server.join().unwrap();
    check_audit(&tslp, "failed");
    assert_eq!(tslp.state(), json!({}));
}

/// law 10 | An audit is one turn, strict JSON, and never in anybody's way
/// law 10 | It never blocks the user
#[test]
fn prompt_puts_off() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let before = tslp.state();
    let mut talk = Talk::new(&tslp);
    let (closed, hang) = closing();
    upstream.will(Answer::Silence(hang));
    let reply = talk.ask("improve `ring_put`");
    upstream.next();
    assert!(is_audit(&upstream.next()));
    upstream.will_say("served");
    upstream.will_say(verdict("completed"));
    assert_eq!(talk.ask("what next?").said(), "served");
    closed
        .recv_timeout(PATIENCE)
        .expect("the audit's connection is closed");
    let audits = eventually(|| {
        let audits = tslp.ended(reply.episode())["audits"].clone();
        (audits[0]["status"] != "awaited").then_some(audits)
    });
    // Asked again once the model is free, and too late to make anything true: the user has gone on.
    assert_eq!(audits, json!([{"entity": RING_PUT, "status": "completed"}]));
    assert_eq!(tslp.state(), before);
}

/// law 6 B, 10 | A shadow audit said `completed` before the user's next prompt; what an agent's next step puts off is asked again | shadow_audit
#[test]
fn agents_next_step() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::with(&places, &upstream.url, &STRICT);
    let (old, new) = ("    return 0;\n", "    r->count += 1;\n    return 0;\n");
    let edit = json!({"path": "src/ring.c", "old_string": old, "new_string": new});
    let mut messages = vec![user("improve `ring_put` in src/ring.c, please")];
    upstream.will(calls("edit", &edit));
    let step = tslp.chat(&request(&messages)).episode();
    upstream.next();
    // Between two steps nothing is asked: it would only be broken off.
    assert_eq!(tslp.ended(step)["audits"][0]["status"], "awaited");
    places.write("src/ring.c", &RING.replace(old, new));
    messages.extend(called("edit", &edit, "Edit applied."));
    upstream.will_say("Done.");
    upstream.will_say(verdict("completed"));
    tslp.chat(&request(&messages));
    assert!(!is_audit(&upstream.next()));
    assert!(is_audit(&upstream.next()));
    let truth = eventually(|| {
        let truth = tslp.state()[RING_PUT].clone();
        (truth["origin"] == "model").then_some(truth)
    });
    assert_eq!(truth["disk"], "same");
    assert_eq!(tslp.ended(step)["audits"][0]["status"], "completed");
}

/// After a whole reply that calls a tool no audit is asked.
#[test]
fn reply_with_tool_call() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let settings = [&STRICT[..], &["--repair", "tell"]].concat();
    let tslp = Tslp::with(&places, &upstream.url, &settings);
    let (old, new) = ("    return 0;\n", "    r->count += 1;\n    return 0;\n");
    let edit = json!({"path": "src/ring.c", "old_string": old, "new_string": new});
    let [calling, _] = called("edit", &edit, "");
    let reply =
        json!({"choices": [{"index": 0, "message": calling, "finish_reason": "tool_calls"}]});
    let reply = reply.to_string().into_bytes();
    upstream.will(Answer::Plain(200, "application/json", reply));
    let mut messages = vec![user("improve `ring_put` in src/ring.c, please")];
    let step = tslp.chat(&request(&messages)).episode();
    upstream.next();
    assert_eq!(tslp.ended(step)["audits"][0]["status"], "awaited");
    messages.extend(called("edit", &edit, "Edit applied."));
    upstream.will_say("Done.");
    tslp.chat(&request(&messages));
    assert!(!is_audit(&upstream.next()));
}

#[test]
fn relayed_request_puts_off() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let (closed, hang) = closing();
    upstream.will(Answer::Silence(hang));
    tslp.say("improve `ring_put`");
    upstream.next();
    assert!(is_audit(&upstream.next()));
    upstream.will_say("relayed");
    upstream.will_say(verdict("completed"));
    let response = tslp.request("POST", "/v1/completions", &[JSON], b"{}");
    assert_eq!(response.status(), 200);
    closed
        .recv_timeout(PATIENCE)
        .expect("the audit's connection is closed");
    check_promoted(&tslp);
}

/// A request for the list of models leaves an audit alone.
#[test]
fn list_of_models() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let (go_on, wait) = barrier();
    // It streams, though nobody asked for that.
    upstream.will(Answer::Steps(vec![
        wait,
        Step::Chunk(event(&verdict("completed"))),
        Step::Chunk(last_events()),
    ]));
    tslp.say("improve `ring_put`");
    upstream.next();
    assert!(is_audit(&upstream.next()));
    assert_eq!(tslp.get("/v1/models").status(), 200);
    go_on.send(()).unwrap();
    check_promoted(&tslp);
}

/// An audit waits for the replies of other conversations.
#[test]
fn other_conversations() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &STRICT);
    let (go_on, wait) = barrier();
    upstream.will(Answer::Steps(vec![
        Step::Chunk(event("slow")),
        wait,
        Step::Chunk(last_events()),
    ]));
    let mut other = tslp.asking(&prompt("tell me a long story"));
    other.until("slow");
    upstream.next();
    upstream.will_say(fenced("src/ring.c", RING));
    let episode = tslp.say("write `ring_put` in src/ring.c").episode();
    upstream.next();
    assert_eq!(tslp.ended(episode)["audits"][0]["status"], "awaited");
    assert!(upstream.saw_nothing());
    upstream.will_say(verdict("completed"));
    go_on.send(()).unwrap();
    assert!(other.response().whole);
    assert!(is_audit(&upstream.next()));
    check_promoted(&tslp);
}

/// Nothing is asked between a reply and the next prompt, and nothing of an audit is recorded.
fn check_asks_nothing(arguments: &[&str]) {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, arguments);
    tslp.say("improve `ring_put`");
    upstream.next();
    assert_eq!(tslp.last_episode()["audits"], json!([]));
    tslp.say("hello");
    assert!(!is_audit(&upstream.next()));
    assert!(upstream.saw_nothing());
    assert!(!kinds(&places.data).contains_key("audit_asked"));
}

#[test]
fn audits_can_be_off() {
    check_asks_nothing(&["--profile", "strict", "--audit", "off"]);
}

#[test]
fn granted_by_parity() {
    check_asks_nothing(&[]);
    check_asks_nothing(&["--audit", "auto"]);
}

/// An audit that doubts contests what is true and takes nothing back.
#[test]
fn contested_truth() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &["--audit", "on"]);
    upstream.will_say(verdict("discussion"));
    tslp.say("improve `ring_put`");
    let promoted = tslp.artifact(RING_PUT);
    check_audit(&tslp, "discussion");
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(
        (&entity["artifact"], &entity["origin"]),
        (&json!(promoted), &json!("model"))
    );
    assert_eq!(entity["contested"], true);
    let states = &tslp.last_episode()["artifact_states"];
    assert_eq!(states[1]["reason"], "structural_parity", "{states}");
    let human = |command: &str| {
        let output = places.in_workspace(&[command]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let state = human("state");
    assert!(state.contains("model (contested)"), "{state}");
    let recent = human("recent");
    assert!(
        recent.contains(&format!("audit of {RING_PUT}: discussion")),
        "{recent}"
    );
}

/// A proxy that stops waits for no audit, and the next one knows that the answer is missing.
#[test]
fn stop_waits_for_none() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(&places, &upstream, &STRICT);
    let before = tslp.state();
    let (closed, hang) = closing();
    upstream.will(Answer::Silence(hang));
    tslp.say("improve `ring_put`");
    upstream.next();
    assert!(is_audit(&upstream.next()));
    tslp.stop();
    closed
        .recv_timeout(PATIENCE)
        .expect("the audit's connection is closed");
    let tslp = Tslp::with(&places, &upstream.url, &STRICT);
    check_audit(&tslp, "cancelled");
    assert_eq!(tslp.state(), before);
}

#[test]
fn demo_model_answers() {
    let places = Places::new();
    let tslp = Tslp::with(&places, "demo", &STRICT);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.say("improve `ring_put`");
    check_promoted(&tslp);
}

#[test]
fn no_system_role() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = pasted(
        &places,
        &upstream,
        &["--profile", "strict", "--placement", "user"],
    );
    upstream.will_say(verdict("completed"));
    tslp.say("improve `ring_put`");
    upstream.next();
    let asked = upstream.next();
    assert_eq!(asked.system(), "");
    let conversation = asked.conversation();
    assert_eq!(conversation.len(), 1);
    assert!(conversation[0].starts_with("user: You audit code changes."));
    check_promoted(&tslp);
}

/// Requests that ended without a reply must not pass for a model in use.
#[test]
fn failed_requests_ended() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &STRICT);
    assert_eq!(tslp.request("POST", CHAT, &[JSON], b"{").status(), 400);
    let relayed = tslp.request("POST", "/v1/embeddings", &[JSON], b"{}");
    assert_eq!(relayed.status(), 200);
    let (closed, hang) = closing();
    let begun = Step::Chunk(event("so"));
    upstream.will(Answer::Steps(vec![begun, hang]));
    let mut gone = tslp.asking(&prompt("hello"));
    gone.until("so");
    drop(gone);
    closed
        .recv_timeout(PATIENCE)
        .expect("the reply is given up");
    upstream.will(Answer::Plain(503, "application/json", b"{}".to_vec()));
    assert_eq!(tslp.chat(&prompt("hello")).status(), 503);
    upstream.will_say(fenced("src/ring.c", RING));
    upstream.will_say(verdict("completed"));
    tslp.say("write `ring_put` in src/ring.c");
    check_promoted(&tslp);
}

/// The user of every dialect goes on from a proposal; where the client keeps no conversation, it names one or sends its tokens.
/// law 6 B | The user saw the proposal and asks for the next change, by a verb that governs its name | user_verified
#[test]
fn going_on_verifies() {
    for path in PATHS {
        let (places, upstream) = (Places::new(), Upstream::start());
        let strict = ["--profile", "strict", "--audit", "off"];
        let tslp = Tslp::with(&places, &upstream.url, &strict);
        let session = ("x-tslp-session", "one");
        let headers: &[_] = match path {
            "/v1/completions" => &[JSON, session],
            _ => &[JSON],
        };
        let mut turns = Vec::new();
        let mut say = |number: u32, asked: &str, answer: &str| {
            turns.push(says(asked));
            let mut body = authors::request(path, &turns);
            turns.push(Turn::Model(answer.into()));
            let mut said = authors::reply(path, turns.last().expect("just added"));
            if path == "/api/generate" {
                said["context"] = json!([7, number]);
                if number > 0 {
                    body["context"] = json!([7, number - 1]);
                }
            }
            let said = said.to_string().into_bytes();
            upstream.will(Answer::Plain(200, "application/json", said));
            let response = tslp.request("POST", path, headers, body.to_string().as_bytes());
            assert_eq!(response.status(), 200, "{path}: {}", response.text());
            tslp.ended(response.episode());
        };
        say(0, &fenced("src/ring.c", RING), "Kept.");
        say(1, "Improve `ring_put`.", &fenced("src/ring.c", RING_BETTER));
        assert_eq!(tslp.state()[RING_PUT]["origin"], "user", "{path}");
        let next = RING_BETTER.replace("return 0", "return r->count");
        let asked = "Now also make `ring_put` return the count.";
        say(2, asked, &fenced("src/ring.c", &next));
        assert_eq!(tslp.state()[RING_PUT]["origin"], "model", "{path}");
    }
}
