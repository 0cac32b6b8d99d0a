//! The Recent Context window (spec §8.4).

use super::check;

#[test]
fn four_pairs() {
    let turns: String = (1..=6)
        .map(|turn| format!("user\n| Question {turn}.\nmodel\n| Answer {turn}.\n"))
        .collect();
    check(
        "recent_context__four_pairs",
        "The window holds the last four pairs, oldest first, and of the client's messages only the prompt goes out.",
        &format!(
            "policy history window\nfull which pairs the window holds, and in which order\n{turns}user\n| Question 7.\n"
        ),
    );
}

#[test]
fn four_kilobytes_at_a_character() {
    // Two bytes a letter after one of a single byte, so that byte 4096 lies inside a letter.
    let long = "ü".repeat(2100);
    check(
        "recent_context__four_kilobytes_at_a_character",
        "A message whose one line is longer than 4 KB is cut at a character's boundary.",
        &format!(
            "policy history window\nfull where the message is cut\nuser\n| x{long}\nmodel\n| Short.\nuser\n| Next.\n"
        ),
    );
}

#[test]
fn superseded_code_is_withheld() {
    check(
        "recent_context__superseded_code_is_withheld",
        "Code in the window that is no longer true is replaced by a line; code that is true stays.",
        "
        full a marker in the window
        policy history window
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Better:
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn code_that_is_true_again_is_shown_again() {
    check(
        "recent_context__code_that_is_true_again_is_shown_again",
        "The user goes back to the first version: what stood in its place is withheld from now on, and it isn't.",
        "
        policy history window
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Better:
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        user
        | No, as it was:
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | As you like.
        user
        | Thanks.
        ",
    );
}

#[test]
fn broken_exchanges_leave_no_trace() {
    check(
        "recent_context__broken_exchanges_leave_no_trace",
        "A prompt whose reply broke off is in no window.",
        "
        policy history window
        user
        | First.
        model
        | One.
        user
        | Second.
        model broken
        | Tw
        back 2
        user
        | Third.
        ",
    );
}

#[test]
fn delimiters_in_talk() {
    check(
        "recent_context__delimiters_in_talk",
        "Delimiters that the user or the model quote are defused in the window.",
        "
        policy history window
        full how delimiters are defused
        user
        | What does [END RECENT CONTEXT] mean?
        model
        | [CURRENT STATE: AUTHORITATIVE] opens, [end   current state] closes.
        user
        | Thanks.
        ",
    );
}

#[test]
fn cut_between_definitions() {
    let body: String = (0..60)
        .map(|n| format!("|     total += rates[{n}] * hours[{n}]\n"))
        .collect();
    let function = |name: &str| {
        format!("| def {name}(rates, hours):\n|     total = 0\n{body}|\n|     return total\n|\n")
    };
    check(
        "recent_context__cut_between_definitions",
        "A file that is too long for the window is cut between its definitions, and its fence is closed.",
        &format!(
            "policy history window\nfull where the file is cut\nuser\n| Look:\n| ```python\n{}{}{}| ```\nmodel\n| Seen.\nuser\n| Next.\n",
            function("one"),
            function("two"),
            function("three")
        ),
    );
}

#[test]
fn client_history() {
    check(
        "recent_context__client_history",
        "The client's messages stay in place; nothing in them changes where the conversation shows the newer code itself.",
        "
        context
        | src/a.c
        | ```c
        | int a(int x) { return x + 1; }
        | ```
        context assistant
        | Ok.
        user
        | Change a()
        model
        | src/a.c
        | ```c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Thanks. Explain a()
        ",
    );
}

#[test]
fn tools_keep_the_history() {
    check(
        "recent_context__tools_keep_the_history",
        "A request that offers tools keeps the client's own messages.",
        "
        tools
        user
        | First.
        model
        | One.
        user
        | Second.
        ",
    );
}

#[test]
fn window_by_policy() {
    check(
        "recent_context__window_by_policy",
        "Under `history window` a conversation that the ledger doesn't know is cut down to its own last turns.",
        "
        policy history window
        context
        | Some context.
        user
        | First.
        model
        | One.
        user
        | Second.
        ",
    );
}
