//! What becomes of a client's older messages (spec §8.4, engine: "History policy").

use serde_json::{Value, json};

use crate::harness::{Places, RING, RING_BETTER, Talk, Tslp, fenced, user};
use crate::upstream::Upstream;

fn window(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(user, assistant)| format!("\nUser:\n{user}\n\nAssistant:\n{assistant}\n"));
    format!(
        "[RECENT CONTEXT: READ-ONLY]{}[END RECENT CONTEXT]",
        pairs.collect::<String>()
    )
}

/// The second turn of a plain conversation gets the window and only its prompt.
#[test]
fn second_turn() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("one");
    talk.ask("first");
    assert_eq!(upstream.next().system(), "");
    talk.ask("second");
    let seen = upstream.next();
    assert_eq!(seen.system(), window(&[("first", "one")]));
    assert_eq!(seen.conversation(), ["user: second"]);
    assert_eq!(tslp.last_episode()["history"], "window");
}

#[test]
fn four_pairs() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = Talk::new(&tslp);
    for turn in 1..=5 {
        upstream.will_say(format!("reply {turn}"));
        talk.ask(&format!("prompt {turn}"));
        upstream.next();
    }
    talk.ask("prompt 6");
    let pairs = [
        ("prompt 2", "reply 2"),
        ("prompt 3", "reply 3"),
        ("prompt 4", "reply 4"),
        ("prompt 5", "reply 5"),
    ];
    assert_eq!(upstream.next().system(), window(&pairs));
}

/// A message is cut at 4 KiB, and never within a character.
#[test]
fn cut_at_four_kib() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = Talk::new(&tslp);
    upstream.will_say(format!("a{}", "é".repeat(3000)));
    let long = "b".repeat(5000);
    talk.ask(&long);
    upstream.next();
    talk.ask("second");
    let cut = (&long[..4096], format!("a{}", "é".repeat(2047)));
    assert_eq!(upstream.next().system(), window(&[(cut.0, &cut.1)]));
}

/// If the request has tools, the client's messages stay.
#[test]
fn messages_with_tools() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("one");
    talk.ask("first");
    upstream.next();
    let mut request = talk.request("second");
    request["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    tslp.chat(&request);
    let seen = upstream.next();
    assert_eq!(seen.system(), "");
    assert_eq!(
        seen.conversation(),
        ["user: first", "assistant: one", "user: second"]
    );
    assert_eq!(seen.text(), request.to_string());
}

/// Context that the ledger never saw is left to the client.
#[test]
fn unknown_context() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let request = json!({"model": "m", "messages": [
        user("from another day"),
        {"role": "assistant", "content": "indeed"},
        user("go on"),
    ]});
    tslp.chat(&request);
    assert_eq!(upstream.next().text(), request.to_string());
    assert_eq!(tslp.last_episode()["history"], "client");
}

#[test]
fn client_policy() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "client"]);
    let mut talk = Talk::new(&tslp);
    talk.ask("first");
    upstream.next();
    talk.ask("second");
    assert_eq!(
        upstream.next().conversation(),
        ["user: first", "assistant: ok", "user: second"]
    );
}

/// Two turns of a conversation: the user's code, and the model's that took its place.
fn improved<'t>(tslp: &'t Tslp<'t>, upstream: &Upstream) -> Talk<'t> {
    let mut talk = Talk::new(tslp);
    upstream.will_say(format!("Better:\n\n{}", fenced("src/ring.c", RING_BETTER)));
    talk.ask(&format!("Improve this:\n\n{}", fenced("src/ring.c", RING)));
    upstream.next();
    talk
}

#[test]
fn old_code_in_window() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = improved(&tslp, &upstream);
    talk.ask("thanks");
    let better = format!("Better:\n\n{}", fenced("src/ring.c", RING_BETTER));
    assert_eq!(
        upstream.next().system(),
        window(&[("Improve this:", better.trim_end())])
    );
}

/// What the model changed in view stays in the client's messages.
#[test]
fn changed_in_view() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let talk = improved(&tslp, &upstream);
    let mut request = talk.request("thanks");
    request["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    tslp.chat(&request);
    let seen = upstream.next();
    assert_eq!(
        seen.conversation(),
        [
            format!("user: Improve this:\n\n{}", fenced("src/ring.c", RING)),
            format!(
                "assistant: Better:\n\n{}",
                fenced("src/ring.c", RING_BETTER)
            ),
            "user: thanks".to_owned(),
        ]
    );
}

/// An agent's history: thoughts, a command that writes the file, and outputs that show it, with or without other files.
#[test]
fn old_code_in_history() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    places.write("src/ring.c", RING);
    improved(&tslp, &upstream); // In another conversation.
    places.write("src/ring.c", RING_BETTER);
    let shown = |code: &str, rest: &str| {
        json!([
            user("Write it, then look at it."),
            {"role": "assistant", "reasoning_content": format!("So:\n{}\nGood.", fenced("src/ring.c", code)),
             "content": null, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "bash", "arguments":
                    json!({"command": format!("cat > src/ring.c <<'EOF'\n{code}EOF\nmake")}).to_string()}},
                {"id": "2", "type": "function", "function": {"name": "bash", "arguments":
                    json!({"command": "make; head -n 99 src/*"}).to_string()}},
            ]},
            {"role": "tool", "tool_call_id": "1", "content": "cc -c src/ring.c\n"},
            {"role": "tool", "tool_call_id": "2", "content":
                format!("cc -c src/ring.c\n==> src/ring.c <==\n{code}{rest}==> src/new.c <==\nint x;\n")},
            {"role": "assistant", "content": "Done."},
        ])
    };
    let ask = |older: &Value| {
        let mut request = Talk::new(&tslp).request("thanks");
        let messages = request["messages"].as_array_mut().expect("messages");
        messages.splice(0..0, older.as_array().expect("a list").clone());
        request["tools"] = json!([{"type": "function", "function": {"name": "bash"}}]);
        tslp.chat(&request);
        let sent = upstream.next().json();
        let mut sent = sent["messages"].as_array().expect("messages").clone();
        sent.retain(|message| message["role"] != "system");
        assert_eq!(sent[..5], *older.as_array().expect("a list"));
        sent[5]["content"].as_str().expect("text").to_owned()
    };
    let told =
        "Changed outside since you read it: src/ring.c::ring_put; read it again before you edit.";
    let words = ask(&shown(RING, "\n"));
    assert!(words.contains(told), "{words}");
    assert_eq!(ask(&shown(RING_BETTER, "\n")), "thanks");
}

/// Stale code is withheld from older messages, too.
#[test]
fn stale_code() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = improved(&tslp, &upstream);
    places.write("src/ring.c", &RING_BETTER.replace("return -1", "return -2"));
    talk.ask("go on with `ring_put`");
    let system = upstream.next().system();
    assert!(!system.contains("slots"), "{system}");
    assert!(system.contains("STALE"), "{system}");
}

#[test]
fn after_a_restart() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("one");
    talk.ask("first");
    upstream.next();
    let request = talk.request("second");
    tslp.stop();
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let (_told, stall) = crate::upstream::closing();
    let said = crate::upstream::Step::Chunk(crate::upstream::event("tw"));
    upstream.will(crate::upstream::Answer::Steps(vec![said, stall]));
    tslp.asking(&request).until("tw");
    assert_eq!(upstream.next().system(), window(&[("first", "one")]));
    tslp.kill();
    // The reply was lost in a crash; the client asks again, and the model still knows what went before.
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    tslp.chat(&request);
    let seen = upstream.next().text();
    assert!(seen.contains("first") && seen.contains("one"), "{seen}");
}
