//! What becomes of a client's older messages (spec §8.4, engine: "History policy").

use serde_json::json;

use crate::harness::{Places, Talk, Tslp, user};
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

#[test]
fn the_second_turn_of_a_plain_conversation_gets_the_window_and_only_its_prompt() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
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
fn the_window_holds_four_pairs() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
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

#[test]
fn a_message_is_cut_at_four_kib_and_never_within_a_character() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    upstream.will_say(format!("a{}", "é".repeat(3000)));
    let long = "b".repeat(5000);
    talk.ask(&long);
    upstream.next();
    talk.ask("second");
    let cut = (&long[..4096], format!("a{}", "é".repeat(2047)));
    assert_eq!(upstream.next().system(), window(&[(cut.0, &cut.1)]));
}

#[test]
fn with_tools_in_the_request_the_clients_messages_stay() {
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

#[test]
fn context_that_the_ledger_never_saw_is_left_to_the_client() {
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
fn the_policy_can_be_set() {
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
