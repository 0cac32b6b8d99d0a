//! All that a reply holds is on record, and so is what the model was given, byte for byte.

use serde_json::{Value, json};
use tslp_core::redact;

use crate::harness::{
    CHAT, JSON, Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, eventually, failure, fenced,
    prompt, user,
};
use crate::ledger_file;
use crate::upstream::{Answer, Step, Upstream, last_events};

/// What `tslp show-prompt` prints.
fn shown(places: &Places, episode: u64) -> String {
    let command = places.in_workspace(&["show-prompt", &format!("e{episode}")]);
    let mut command = command;
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Why it prints nothing.
fn not_shown(places: &Places, episode: u64) -> String {
    let (code, error) = failure(places.in_workspace(&["show-prompt", &episode.to_string()]));
    assert_eq!(code, 1, "{error}");
    error
}

/// Events of a kind, as `tslp log --json` prints them.
fn exported(places: &Places, kind: &str) -> Vec<Value> {
    let output = places
        .in_workspace(&["log", "--json", "--limit", "0"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.filter(|line: &Value| line["kind"] == kind).collect()
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
}

/// An agent's conversation: a system message, tools, files that are read and written, thoughts that it sends back.
fn agent_steps() -> Vec<Value> {
    let mut messages = vec![
        json!({"role": "system", "content": "You are an agent.\nUse the tools."}),
        user(
            "improve `ring_put` in src/ring.c, please: it overflows and says nothing about it at all",
        ),
    ];
    let mut requests = Vec::new();
    for (step, code) in [RING, RING_BETTER, RING].into_iter().enumerate() {
        let body = json!({
            "model": "m", "temperature": 0.5, "messages": messages, "stream": true,
            "tools": [{"type": "function", "function": {"name": "read_file", "parameters": {"x": 1.50}}}],
        });
        requests.push(body);
        let id = format!("c{step}");
        let arguments = json!({"path": format!("src/other{step}.c"), "content": code.replace("ring_put", "other")});
        messages.push(json!({
            "role": "assistant", "content": null, "reasoning_content": "Let me look at the other file first,\nthen go on.",
            "tool_calls": [call(&id, "write_file", &arguments)],
        }));
        let result = format!("{}\n{step}: done\n", code.repeat(3));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    requests
}

/// Sends each request, and gives what the upstream got, by episode.
fn exchange(tslp: &Tslp<'_>, upstream: &Upstream, requests: &[Value]) -> Vec<(u64, String)> {
    let exchanges = requests.iter().map(|request| {
        let response = tslp.chat(request);
        assert_eq!(response.status(), 200, "{response:?}");
        (response.episode(), upstream.next().text())
    });
    exchanges.collect()
}

/// Everything that the upstream got is shown as it was, of a running proxy and of a stopped one.
fn check_shown(places: &Places, sent: &[(u64, String)]) {
    for (episode, body) in sent {
        eventually(|| {
            let sent = exported(places, "prompt_sent");
            sent.iter()
                .any(|sent| sent["episode"] == *episode)
                .then_some(())
        });
        assert_eq!(shown(places, *episode), *body, "e{episode}");
    }
}

/// law 14.3 | `/debug/last-prompt` comes from the ledger, so a restart loses nothing
/// law 3.2 | Never injected into prompts
/// law 8.5 | Tool calls and results are on record
/// law 14.3 | `/debug/last-prompt`: exactly what the model saw, with debug alone
#[test]
fn shown_as_received() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut sent = exchange(&tslp, &upstream, &agent_steps());
    let mut talk = Talk::new(&tslp).with_system("Be \"brief\".");
    talk.ask(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    talk.ask("improve `ring_put`, and say\twhy: \u{1F600} für </script>");
    places.write("src/ring.c", &RING.replace("return 0", "return 7"));
    talk.ask("what does `ring_put` return?");
    let episodes = sent.len() as u64 + 1..;
    sent.extend(episodes.zip((0..3).map(|_| upstream.next().text())));
    check_shown(&places, &sent);
    let last = tslp.get("/debug/last-prompt");
    assert_eq!(last.status(), 404, "only with --debug");
    tslp.kill();
    // Another process knows nothing of what the first one sent.
    let tslp = Tslp::with(&places, &upstream.url, &["--debug"]);
    let page = tslp.page("/debug/last-prompt");
    let (episode, body) = sent.last().unwrap();
    assert_eq!(page["episode"], *episode);
    assert_eq!(
        page["request"],
        serde_json::from_str::<Value>(body).unwrap()
    );
    let again = exchange(&tslp, &upstream, &agent_steps()[2..]);
    sent.retain(|(episode, _)| *episode != again[0].0);
    sent.extend(again);
    check_shown(&places, &sent);
    tslp.stop();
    check_shown(&places, &sent);
    let (code, report) = places.cli_json(&["verify", "--deep"]);
    assert_eq!((code, &report["ok"]), (0, &json!(true)), "{report}");
}

/// law 3.1 | Deduplicated by hash
#[test]
fn cost_of_a_step() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let sent = exchange(&tslp, &upstream, &agent_steps());
    check_shown(&places, &sent);
    tslp.stop();
    let events = exported(&places, "prompt_sent");
    let named: Vec<usize> = events
        .iter()
        .map(|event| event["event"]["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(named, [2, 2, 2]);
    let frames = events.iter().map(|event| &event["event"]["frame"]);
    assert!(
        frames
            .clone()
            .all(|frame| *frame == events[0]["event"]["frame"])
    );
    // What a tool returned is in the ledger once.
    let line = "r->count += 1;";
    let contents = exported(&places, "content");
    let holding = contents.iter().filter(|content| {
        let text = content["event"]["text"].as_str().unwrap_or_default();
        text.matches(line).count() == 3
    });
    assert_eq!(holding.count(), 1);
}

#[test]
fn clients_own_spelling() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let body = "{ \"model\" : \"m\",\n  \"messages\": [ {\"role\":\"user\", \"content\":\"h\\u00e9llo \\/ \\ud83d\\ude00\"} ,\n\t{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,x\"}}]}\n ], \"n\": 1.0e0 }\n";
    let response = tslp.request("POST", CHAT, &[JSON], body.as_bytes());
    tslp.ended(response.episode());
    assert_eq!(upstream.next().text(), body);
    check_shown(&places, &[(response.episode(), body.to_owned())]);
}

/// What is not on record is not shown, and the answer says why.
#[test]
fn not_on_record() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let title = prompt("Generate a concise, 3-5 word title for this chat").to_string();
    tslp.request("POST", CHAT, &[JSON], title.as_bytes());
    assert!(not_shown(&places, 1).contains("request of the client's own"));
    assert!(not_shown(&places, 9).contains("the last is e1"));
    let key = "sk-proj-abcdEFGH1234567890abcd";
    let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----";
    let mut request = prompt(&format!("my key:\n{key}\n{pem}\nkeep it"));
    request["metadata"] = json!({ "key": key });
    let response = tslp.chat(&request);
    upstream.next();
    let sent = upstream.next().text();
    assert!(sent.contains(key));
    let clean = sent
        .replace(key, &redact::without_credentials(key))
        .replace(&pem.replace('\n', "\\n"), &redact::without_credentials(pem));
    assert_eq!(clean.matches("[REDACTED CREDENTIAL ").count(), 3, "{clean}");
    check_shown(&places, &[(response.episode(), clean)]);
    let output = places.in_workspace(&["show-prompt", "2"]).output().unwrap();
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("replaces a credential in 3 places"), "{note}");
    tslp.stop();
    for (name, bytes) in ledger_file::evidence(&places.data) {
        assert!(!ledger_file::holds(&bytes, "1234567890abcd"), "{name}");
        assert!(!ledger_file::holds(&bytes, "MIIEpAIB"), "{name}");
    }
}

/// law 3.2 | Holds times, prompts, replies, audits and transitions
#[test]
fn whole_reply_kept() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let better = fenced("src/ring.c", RING_BETTER);
    let event =
        |choices: Value| Step::Chunk(format!("data: {}\n\n", json!({ "choices": choices })));
    upstream.will(Answer::Steps(vec![
        event(json!([{"index": 0, "delta": {"reasoning_content": "Shall I\n"}}])),
        event(json!([{"index": 0, "delta": {"reasoning_content": better}}])),
        event(json!([{"index": 0, "delta": {"content": "I won't", "refusal": "not allowed"}}, {"index": 1, "delta": {"content": better}}])),
        Step::Chunk(last_events()),
    ]));
    let response =
        tslp.chat(&json!({"model": "m", "messages": [user("improve `ring_put`")], "stream": true}));
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    let page = "no room for this model\n".repeat(500);
    upstream.will(Answer::Plain(507, "text/plain", page.clone().into_bytes()));
    let refused = tslp.chat(&prompt("again"));
    assert_eq!(refused.status(), 503);
    tslp.stop();
    let text = |part: &Value| -> String {
        let contents = exported(&places, "content");
        let hash = &part["event"]["content"];
        let content = contents
            .iter()
            .find(|content| content["event"]["hash"] == *hash);
        content.unwrap()["event"]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let parts = exported(&places, "reply_part");
    let said = |kind: &str, choice: u64, episode: u64| -> String {
        let of = parts.iter().filter(|part| {
            let event = &part["event"];
            part["episode"] == episode && event["kind"] == kind && event["choice"] == choice
        });
        of.map(text).collect()
    };
    let episode = response.episode();
    assert_eq!(said("reasoning", 0, episode), format!("Shall I\n{better}"));
    assert_eq!(said("refusal", 0, episode), "not allowed");
    assert_eq!(said("other_text", 1, episode), better);
    let error = said("error", 0, episode + 1);
    // A word that was cut in two might be a part of a key.
    let kept = 4096 - "no".len();
    assert_eq!(error, page[..kept]);
    let left_out: Vec<u64> = parts
        .iter()
        .filter_map(|part| part["event"]["left_out_bytes"].as_u64())
        .collect();
    assert_eq!(left_out.iter().sum::<u64>(), (page.len() - kept) as u64);
    let output = places
        .in_workspace(&["log", "--kind", "reply_part"])
        .output()
        .unwrap();
    let log = String::from_utf8(output.stdout).unwrap();
    for words in [
        "kind reasoning",
        "kind refusal",
        "kind other_text",
        "choice 1",
        "left_out_bytes",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    let (code, report) = places.cli_json(&["verify", "--deep"]);
    assert_eq!((code, &report["ok"]), (0, &json!(true)), "{report}");
}
