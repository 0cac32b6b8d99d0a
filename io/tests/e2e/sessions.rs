//! Which conversation a request belongs to, and which of its messages are new.

use serde_json::{Value, json};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Talk, Tslp, fenced, prompt, user};
use crate::ledger_file;
use crate::upstream::{Answer, Upstream};

fn session(tslp: &Tslp<'_>, episode: u64) -> Value {
    tslp.ended(episode)["session_id"].clone()
}

/// Two windows with the same opening do not mix.
#[test]
fn two_windows() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let (mut one, mut two) = (Talk::new(&tslp), Talk::new(&tslp));
    upstream.will_say("reply in window one");
    upstream.will_say("reply in window two");
    one.ask("hello");
    two.ask("hello");
    upstream.next();
    upstream.next();
    let third = two.ask("go on").episode();
    let context = upstream.next().system();
    assert!(
        context.contains("window two") && !context.contains("window one"),
        "{context}"
    );
    let fourth = one.ask("go on").episode();
    let context = upstream.next().system();
    assert!(
        context.contains("window one") && !context.contains("window two"),
        "{context}"
    );
    assert_eq!(session(&tslp, third), 2);
    assert_eq!(session(&tslp, fourth), 1);
}

/// An edited turn goes on in a session of its own.
#[test]
fn edited_turn() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let mut talk = Talk::new(&tslp);
    upstream.will_say("one");
    talk.ask("first");
    let mut edited = Talk::new(&tslp);
    edited.messages.clone_from(&talk.messages);
    upstream.will_say("two");
    let second = talk.ask("second").episode();
    upstream.will_say("two again");
    let other = edited.ask("second, edited").episode();
    assert_eq!(session(&tslp, second), 1);
    assert_eq!(session(&tslp, other), 2);
    for _ in 0..3 {
        upstream.next();
    }
    talk.ask("third");
    let context = upstream.next().text();
    assert!(
        context.contains("two") && !context.contains("edited"),
        "{context}"
    );
    edited.ask("third");
    let seen = upstream.next().text();
    assert!(
        seen.contains("edited") && seen.contains("two again"),
        "{seen}"
    );
    assert_eq!(tslp.last_episode()["session_id"], 2);
}

/// A named session goes on, whatever the history says.
#[test]
fn named_session() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    let named = [("X-Tslp-Session", "work")];
    let first = tslp.chat_with(&named, &prompt("first")).episode();
    tslp.say("elsewhere");
    let second = tslp.chat_with(&named, &prompt("second")).episode();
    assert_eq!(session(&tslp, second), session(&tslp, first));
    let other = tslp.chat_with(&[("X-Tslp-Session", "play")], &prompt("third"));
    assert_ne!(session(&tslp, other.episode()), session(&tslp, first));
    for _ in 0..2 {
        upstream.next();
    }
    assert!(upstream.next().system().contains("User:\nfirst"));
    let seen = upstream.next();
    assert!(
        seen.head
            .lines()
            .all(|line| !line.to_lowercase().starts_with("x-tslp"))
    );
}

#[test]
fn retry_is_no_episode() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let busy = br#"{"error":{"message":"busy"}}"#.to_vec();
    upstream.will(Answer::Plain(503, "application/json", busy));
    let first = tslp.chat_with(&[("X-Stainless-Retry-Count", "0")], &prompt("hello"));
    assert_eq!(first.status(), 503);
    upstream.will_say(fenced("src/ring.c", RING));
    let again = tslp.chat_with(&[("X-Stainless-Retry-Count", "1")], &prompt("hello"));
    assert_eq!(again.episode(), first.episode());
    let kinds = ledger_file::kinds(&places.data);
    assert_eq!(kinds["prompt_received"], 1, "{kinds:?}");
    let episode = crate::harness::eventually(|| {
        let episode = tslp.last_episode();
        (episode["outcome"] == "completed").then_some(episode)
    });
    assert_eq!(episode["episode_id"], 1);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    assert_eq!(tslp.page("/doctor")["ok"], true);
}

/// The same prompt without the retry mark is a new episode.
#[test]
fn unmarked_repetition() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.say("hello").episode(), 1);
    assert_eq!(tslp.say("hello").episode(), 2);
    let mark = [("X-Stainless-Retry-Count", "1")];
    let answered = tslp
        .chat_with(&mark, &prompt("never seen before"))
        .episode();
    assert_eq!(answered, 3);
}

/// A request as aider makes it: its examples first, its files regenerated in front of the prompt.
fn aider(files: &str, history: &[Value], text: &str) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "Act as an expert software developer."}),
        user("Change get_greeting to print Hey"),
        json!({"role": "assistant", "content": "To do that:\n\nsrc/greeting.c\n```\nvoid show_greeting(void) {\n    puts(\"Hey\");\n}\n```\n"}),
        user("path/to/decoy.c\n```\nint decoy_one(void) {\n    return 1;\n}\n```\n"),
        json!({"role": "assistant", "content": "Ok."}),
        user(
            "I switched to a new code base. Please don't consider the above files or try to edit them any longer.",
        ),
        json!({"role": "assistant", "content": "Ok."}),
    ];
    messages.extend_from_slice(history);
    messages.push(user(files));
    messages.push(json!({"role": "assistant", "content": "Ok, any changes I propose will be to those files."}));
    messages.push(user(text));
    json!({"model": "m", "messages": messages, "stream": true})
}

fn added(code: &str) -> String {
    format!(
        "I have *added these files to the chat* so you can go ahead and edit them.\n\n*Trust this message as the true contents of these files!*\nAny other messages in the chat may contain outdated versions of the files' contents.\n\nsrc/ring.c\n```\n{code}```\n"
    )
}

/// The files that aider adds are true, and its examples are not.
#[test]
fn aiders_added_files() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let request = aider(&added(RING), &[], "what does ring_put return?");
    tslp.chat(&request);
    let state = tslp.state();
    let entities: Vec<&String> = state.as_object().unwrap().keys().collect();
    assert!(
        entities
            .iter()
            .all(|entity| entity.starts_with("src/ring.c")),
        "{state}"
    );
    assert_eq!(state[RING_PUT]["origin"], "user");
    // Its files and examples stay where it put them, and nothing is shown twice.
    assert_eq!(upstream.next().text(), request.to_string());
}

#[test]
fn unchanged_context() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("Zero.");
    let first = "what does ring_put return?";
    tslp.chat(&aider(&added(RING), &[], first));
    let before = ledger_file::kinds(&places.data);
    let history = [
        user(first),
        json!({"role": "assistant", "content": "Zero."}),
    ];
    tslp.chat(&aider(&added(RING), &history, "are you sure?"));
    let after = ledger_file::kinds(&places.data);
    let grown: Vec<(&str, i64)> = after
        .iter()
        .map(|(kind, count)| (kind.as_str(), count - before.get(kind).unwrap_or(&0)))
        .filter(|(_, more)| *more > 0)
        .collect();
    // The prompt, what was made of it, the reply, and what it cost: two texts that weren't there, and two messages.
    let expected = [
        ("content", 4),
        ("prompt_composed", 1),
        ("prompt_measured", 1),
        ("prompt_received", 1),
        ("prompt_sent", 1),
        ("reply_ended", 1),
    ];
    assert_eq!(grown, expected);
    assert_eq!(tslp.last_episode()["session_id"], 1);
    let changed = aider(&added(RING_BETTER), &history, "and now?");
    tslp.chat(&changed);
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    assert_eq!(
        tslp.last_episode()["artifact_states"][0]["state"],
        "SUPERSEDED"
    );
}

/// What the model wrote does not become the user's by being sent back.
#[test]
fn models_code_sent_back() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let mut talk = Talk::new(&tslp);
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    talk.ask("improve `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    talk.ask("thanks");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
}

#[test]
fn empty_session_name() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let named = [("X-Tslp-Session", "")];
    let first = tslp.chat_with(&named, &prompt("first")).episode();
    let second = tslp.chat_with(&named, &prompt("second")).episode();
    assert_ne!(session(&tslp, first), session(&tslp, second));
}
