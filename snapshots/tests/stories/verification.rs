//! User verification: going on from a proposal takes it (spec §6, gate B).

use super::check;

/// The model was shown `a`, and proposes a change that lacks only a grant.
const PROPOSED: &str = "
        policy profile strict
        policy audit off
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Make `a` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
";

#[track_caller]
fn after_proposal(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PROPOSED}{story}"));
}

#[test]
fn going_on() {
    after_proposal(
        "verification__going_on",
        "Propose, verify, promote: the user asks for the next change of what was shown and proposed.",
        "
        user
        | Now change `a` to take a long.
        ",
    );
}

#[test]
fn going_on_with_a_whole_file() {
    check(
        "verification__going_on_with_a_whole_file",
        "The next change of the file verifies it with all that its block changes: file and definitions agree.",
        "
        policy profile strict
        policy audit off
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Let src/a.c add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 12; }
        | ```
        user
        | Now change src/a.c to take a long.
        ",
    );
}

#[test]
fn a_question() {
    after_proposal(
        "verification__a_question",
        "A question asks for no change: the proposal stays PROPOSED.",
        "
        user
        | What does `a` return?
        ",
    );
}

#[test]
fn another_entity() {
    after_proposal(
        "verification__another_entity",
        "The next change is of something else: the proposal stays PROPOSED.",
        "
        user
        | Now write a function `other_thing`.
        ",
    );
}

#[test]
fn a_replacement() {
    after_proposal(
        "verification__a_replacement",
        "The user pastes a version of their own: that one is true, and the proposal is moot.",
        "
        user
        | Use this in `a` and extend it:
        | ```c:src/a.c
        | int a(int x) { return x + 100; }
        | ```
        ",
    );
}

#[test]
fn one_turn_later() {
    after_proposal(
        "verification__one_turn_later",
        "Only the turn directly before counts.",
        "
        user
        | Thanks. What is C?
        model
        | A language.
        user
        | Now change `a` to take a long.
        ",
    );
}

#[test]
fn stale_base() {
    after_proposal(
        "verification__stale_base",
        "Disk has diverged from the base meanwhile: nothing is promoted, and the proposal is void.",
        "
        disk src/a.c
        | int a(int x) { return x - 1; }
        user
        | Now change `a` to take a long.
        ",
    );
}

#[test]
fn two_parts_of_a_whole_file() {
    check(
        "verification__two_parts_of_a_whole_file",
        "Two functions of one block are verified: the file that was true as a whole is superseded once.",
        "
        policy profile strict
        policy audit off
        user
        | ```c:src/a.c
        | #include <a.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Make `a` and `b` add 10.
        model
        | ```c:src/a.c (1-2)
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 10; }
        | ```
        user
        | Now change `a` and `b` to take a long.
        ",
    );
}

#[test]
fn beside_other_code() {
    after_proposal(
        "verification__beside_other_code",
        "The user goes on from the proposal and pastes code of something else: the proposal is verified all the same.",
        "
        user
        | Now change `a` to use this:
        | ```c:src/a.c
        | int helper(int x) { return x * 3; }
        | ```
        ",
    );
}

#[test]
fn namesake_in_another_file() {
    after_proposal(
        "verification__namesake_in_another_file",
        "The user goes on from the proposal and pastes another file's function of the same name: it replaces nothing here.",
        "
        user
        | Now change `a` of src/a.c to be like this one:
        | ```c:src/b.c
        | int a(int x) { return x * 3; }
        | ```
        ",
    );
}

#[test]
fn over_a_stale_file() {
    check(
        "verification__over_a_stale_file",
        "Going on from a proposal for a function whose file changed elsewhere takes it, as does going on from the next one after the file is accepted.",
        "
        policy profile strict
        policy audit off
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Make `a()` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        disk src/a.c
        | #include <assert.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | Now change `a()` to take a long.
        model
        | I can't.
        user
        | @tslp accept src/a.c
        | Now change `a()` to take a long.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 11; }
        | ```
        user
        | Make `a()` take a long.
        ",
    );
}

#[test]
fn said_against() {
    for (name, about, prompt) in [
        (
            "verification__negation",
            "Who says that the code isn't to be changed asks for no change: the proposal stays PROPOSED.",
            "Don't change `a`, please.",
        ),
        (
            "verification__undo",
            "Who wants the change undone hasn't taken it.",
            "Undo your change to `a`.",
        ),
        (
            "verification__question_about_use",
            "A question that has a verb of the list in it is a question.",
            "How do I use a() and change it?",
        ),
        (
            "verification__change_of_something_else",
            "A change of something else that names the proposal along the way takes nothing.",
            "Write a test for `a`.",
        ),
    ] {
        after_proposal(name, about, &format!("\nuser\n| {prompt}\n"));
    }
}

#[test]
fn a_name_that_is_a_verb() {
    check(
        "verification__a_name_that_is_a_verb",
        "A function that is called like a verb asks for no change by being named.",
        "
        policy profile strict
        policy audit off
        user
        | ```c:src/a.c
        | int add(int x) { return x + 1; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Make add() add 10.
        model
        | ```c:src/a.c
        | int add(int x) { return x + 10; }
        | ```
        user
        | what is add()?
        ",
    );
}

#[test]
fn doubted_by_an_audit() {
    check(
        "verification__doubted_by_an_audit",
        "A proposal that an audit doubts isn't taken by going on from it: the user says `@tslp confirm`.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        | Keep this.
        model
        | Kept.
        user
        | Make `a` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"partial\"}
        user
        | Now change `a` to take a long.
        ",
    );
}
