//! Which conversation a prompt belongs to.

use super::check;

#[test]
fn two_sessions_on_one_entity() {
    check(
        "sessions__two_on_one_entity",
        "Two windows change one function: the second reply stands on a base that is no longer true and is refused.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        client B
        user
        | Change a()
        client A
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        client B
        model
        | ```c:src/a.c
        | int a(int x) { return x + 3; }
        | ```
        user
        | Show me a()
        client A
        user
        | Show me a()
        ",
    );
}

#[test]
fn same_opening() {
    check(
        "sessions__same_opening",
        "Two windows with the same opening and the same reply don't mix.",
        "
        user
        | Hello.
        model
        | Hi.
        client B
        user
        | Hello.
        model
        | Hi.
        client A
        user
        | I am A.
        model
        | Hi A.
        client B
        user
        | I am B.
        model
        | Hi B.
        client A
        user
        | Who am I?
        client B
        user
        | Who am I?
        ",
    );
}

#[test]
fn regenerated_turn() {
    check(
        "sessions__regenerated_turn",
        "A regenerated last reply: the session forks before it and knows nothing of the first answer.",
        "
        user
        | First.
        model
        | One.
        user
        | Second.
        model
        | Two.
        back 1
        again
        model
        | Deux.
        user
        | Third.
        ",
    );
}

#[test]
fn edited_turn() {
    check(
        "sessions__edited_turn",
        "An edited earlier turn forks the session at the last exchange that both share.",
        "
        user
        | First.
        model
        | One.
        user
        | Second.
        model
        | Two.
        back 2
        user
        | Second, but otherwise.
        model
        | Two, but otherwise.
        user
        | Third.
        ",
    );
}

#[test]
fn retried_request() {
    check(
        "sessions__retried_request",
        "A client's library repeats a failed request: the same episode, nothing recorded twice.",
        "
        full nothing is on record twice
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model refused
        back 1
        retry
        model
        | Fine.
        user
        | Show me a()
        ",
    );
}

#[test]
fn notices_survive_a_failed_reply() {
    check(
        "sessions__notices_survive_a_failed_reply",
        "A notice that went out with a prompt whose reply failed goes out again, until a reply has come.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { /* ... */ }
        | ```
        user
        | In full, please.
        model refused
        back 1
        retry
        model broken
        | ```
        back 2
        user
        | Once more.
        model
        | I can't.
        user
        | Why?
        ",
    );
}

#[test]
fn named_session() {
    check(
        "sessions__named_session",
        "A session named by the client goes on across new conversations.",
        "
        session work
        user
        | First.
        model
        | One.
        new
        user
        | Second.
        model
        | Two.
        ",
    );
}

#[test]
fn proposals_stay_in_their_session() {
    check(
        "sessions__proposals_stay_in_their_session",
        "A refused proposal's notice and hydration concern its own session only.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { /* ... */ }
        | ```
        client B
        user
        | Hello.
        client A
        user
        | Go on.
        ",
    );
}

#[test]
fn trimmed_reply() {
    check(
        "sessions__forgetful_client",
        "A client that sends only its last exchange back still continues its session.",
        "
        context
        | Context 1.
        user
        | First.
        model
        | One.
        new
        context
        | Context 2.
        context
        | First.
        context assistant
        | One.
        user
        | Second.
        ",
    );
}

#[test]
fn rules_behind_the_current_prompt() {
    check(
        "sessions__rules_behind_the_current_prompt",
        "A client adds its rules to the current prompt alone and sends its history without them: the session goes on.",
        "
        context
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        user
        | Change a()
        |
        | Reply in the format of the rules.
        model
        | ```c:src/a.c
        | int a(int x) {
        |     // ... existing code ...
        | }
        | ```
        back 2
        context
        | Change a()
        context assistant
        | ```c:src/a.c
        | int a(int x) {
        |     // ... existing code ...
        | }
        | ```
        user
        | In full, please.
        |
        | Reply in the format of the rules.
        ",
    );
}

/// Qwen Code puts the date before the user's words, and leaves it out once it goes on in a new process. The session got lost,
/// and with it which edits were the model's own: what it had read was taken out of its tools' results.
#[test]
fn words_before_the_current_prompt() {
    check(
        "sessions__words_before_the_current_prompt",
        "A client adds a line in the middle of the current prompt and sends it back without: the session goes on.",
        "
        tools
        user
        | Skills: none.
        | It is Sunday.
        | What is `add`?
        model
        | A function.
        back 2
        context
        | Skills: none.
        | What is `add`?
        context assistant
        | A function.
        user
        | Where?
        model
        | In a file.
        ",
    );
}
