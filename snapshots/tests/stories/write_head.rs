//! The user as write-head: pasted code is true at once and wins over everything (spec §6, §9.1).

use super::check;

#[test]
fn paste_becomes_truth() {
    check(
        "write_head__paste_becomes_truth",
        "A pasted function is hydrated when a new conversation names it; the model's full update then takes its place.",
        "
        user
        | Here is src/a.c:
        | ```c
        | int add(int a, int b) {
        |     return a + b;
        | }
        | ```
        model
        | Thanks, add() adds.
        new
        user
        | Please make `add` safer.
        model
        | ```c:src/a.c
        | int add(int a, int b) {
        |     if (a > 100) return 0;
        |     return a + b;
        | }
        | ```
        user
        | And what does `add` do now?
        ",
    );
}

#[test]
fn an_example_of_the_clients() {
    check(
        "write_head__an_example_of_the_clients",
        "What a client sends along to show a format defines nothing, which is worth no notice; of a file that is tracked it is.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Noted.
        user
        | What is a()? Answer with a file listing:
        |
        | path/to/filename.js
        | ```
        | // entire file content ...
        | ```
        model
        | It adds one.
        user
        | ```c:src/a.c
        | // entire file content goes here
        | ```
        ",
    );
}

#[test]
fn an_example_of_the_clients_that_the_model_copies() {
    check(
        "write_head__an_example_of_the_clients_that_the_model_copies",
        "Code that the client's system message shows as an example is nobody's when the model repeats it; what the model writes itself is its own.",
        "
        context system
        | Answer with whole files, for instance:
        |
        | show_greeting.py
        | ```
        | def greeting():
        |     return 'Hey'
        | ```
        user
        | Write a greeting.
        model
        | show_greeting.py
        | ```
        | def greeting():
        |     return 'Hey'
        | ```
        user
        | No, one of your own.
        model
        | greet.py
        | ```
        | def greet():
        |     return 'Good evening'
        | ```
        ",
    );
}

#[test]
fn paste_over_the_model() {
    check(
        "write_head__paste_over_the_model",
        "The user's paste supersedes what the model promoted and discards what it proposed.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Again.
        model
        | ```c:src/a.c
        | int a(int x) { /* ... */ }
        | ```
        user
        | No, it is
        | ```c:src/a.c
        | int a(int x) { return x + 3; }
        | ```
        ",
    );
}

#[test]
fn paste_shrinks() {
    check(
        "write_head__paste_shrinks",
        "The user may shrink a function at will: parity doesn't bind the write-head.",
        "
        user
        | ```c:src/a.c
        | int a(int x) {
        |     if (x > 10) return 10;
        |     if (x < 0) return 0;
        |     return x;
        | }
        | ```
        model
        | Fine.
        user
        | Shorter:
        | ```c:src/a.c
        | int a(int x) { return x; }
        | ```
        ",
    );
}

#[test]
fn paste_of_the_truth() {
    check(
        "write_head__paste_of_the_truth",
        "Pasting what is true already, only indented otherwise, changes nothing.",
        "
        user
        | ```c:src/a.c
        | int a(int x) {
        |     return x;
        | }
        | ```
        model
        | Fine.
        user
        | What does a() do?
        | ```c:src/a.c
        |     int a(int x) {
        |         return x;
        |     }
        | ```
        ",
    );
}

#[test]
fn quoting_the_proposal() {
    check(
        "write_head__quoting_the_proposal",
        "Quoting what the model has just proposed doesn't make it the user's.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Why did you write this?
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn elided_paste() {
    check(
        "write_head__elided_paste",
        "A paste with a placeholder is no full definition: not true, nothing removed, and a notice says so.",
        "
        user
        | ```c:src/a.c
        | int a(int x) {
        |     if (x > 10) return 10;
        |     return x;
        | }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | int a(int x) {
        |     // ... existing code ...
        |     return x + 1;
        | }
        | ```
        ",
    );
}

#[test]
fn full_after_elided() {
    check(
        "write_head__full_after_elided",
        "What the user pasted behind a placeholder at first becomes true when it is pasted in full: it is no quote.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | // ... rest unchanged ...
        | ```
        model
        | I need it in full.
        user
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn proposal_pasted_in_a_new_conversation() {
    check(
        "write_head__proposal_pasted_in_a_new_conversation",
        "What the model proposed elsewhere stays a proposal when it is pasted in a new conversation, and a notice says how it becomes true.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        new
        user
        | It is now
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn paste_without_path() {
    check(
        "write_head__paste_without_path",
        "A paste that nothing links to a file is recorded, and a notice says what is missing.",
        "
        user
        | ```c
        | int a(int x) { return x; }
        | ```
        model
        | Fine.
        user
        | It is this:
        | ```c:src/a.c
        | int a(int x) { return x; }
        | ```
        ",
    );
}

#[test]
fn paste_in_client_context() {
    check(
        "write_head__paste_in_client_context",
        "Files that a client sends in an earlier message of its own are the user's word the first time, not again.",
        "
        context
        | src/a.c
        | ```c
        | int a(int x) { return x + 1; }
        | ```
        context assistant
        | Ok.
        user
        | Add one more in a().
        model
        | src/a.c
        | ```c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Thanks, show me a()
        ",
    );
}

#[test]
fn examples_of_another_code_base() {
    check(
        "write_head__examples_of_another_code_base",
        "Messages that a client marks as examples of another code base are never captured.",
        "
        context
        | src/example.c
        | ```c
        | int example(void) { return 1; }
        | ```
        context assistant
        | Ok.
        context
        | I switched to a new code base. Please don't consider the above files.
        context assistant
        | Ok.
        user
        | src/a.c
        | ```c
        | int a(int x) { return x; }
        | ```
        ",
    );
}

#[test]
fn two_blocks_of_one_symbol() {
    check(
        "write_head__two_blocks_of_one_symbol",
        "One message pastes a function twice: the later one is the user's word.",
        "
        user
        | Before:
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        | After:
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn pasted_without_a_fence() {
    check(
        "write_head__pasted_without_a_fence",
        "Code below a line with its path is the user's word without a fence, too; the words behind it aren't code.",
        "
        user
        | Take this over:
        |
        | src/add.c
        | int add(int a, int b) {
        |     return a + b;
        | }
        |
        | int sub(int a, int b) {
        |     return a - b;
        | }
        |
        | Keep it in mind, please.
        | src/add.py:
        | def add(a, b):
        |     return a + b
        ",
    );
}

#[test]
fn pasted_without_anything() {
    check(
        "write_head__pasted_without_anything",
        "Code without a fence and without a path, or in a fence without a language and a path: one notice, and nothing is true.",
        "
        user
        | What does this do?
        |
        | int add(int a, int b) {
        |     return a + b;
        | }
        |
        | ```
        | int sub(int a, int b) { return a - b; }
        | ```
        model
        | It adds.
        user
        | And this?
        | ```
        | int sub(int a, int b) { return a - b; }
        | ```
        model
        | It subtracts.
        user
        | Thanks.
        ",
    );
}

/// Nothing in here is code that anybody could take, though much of it looks so.
#[test]
fn pasted_prose() {
    check(
        "write_head__pasted_prose",
        "Logs, mails, diffs, stack traces, listings and prose with code words: nothing is true, and nobody is told anything.",
        "
        user
        | From: a@example.org
        | Subject: add (int, int) {
        |
        | src/add.c
        | src/sub.c
        | The function add in src/add.c is slow if (n > 10) {see below}:
        |
        | src/add.c:
        | is where I would look first.
        |
        | 2026-01-01 12:00:00 ERROR main() { pool=3 } failed
        | Traceback (most recent call last):
        |   File \"src/add.py\", line 3, in add
        |     return a + b
        | TypeError: unsupported operand
        |   at add (src/add.js:3:5)
        | -int add(int a, int b) {
        | +int add(int a, long b) {
        |
        | for (;;) {
        | while true do
        ",
    );
}

#[test]
fn bad_pastes() {
    check(
        "write_head__bad_pastes",
        "Of the user's own code that isn't taken it is said that it is the user's, why, and what to do; never that it was the model's.",
        "
        user
        | ```c:src/a.c
        | int a( { return
        | ```
        | ```c:../out.c
        | int out(void) { return 1; }
        | ```
        | ```c:src/b.c
        | int b(int x) {
        |     // ... existing code ...
        | }
        | ```
        model
        | ```c:src/c.c
        | int c( { return
        | ```
        user
        | What now?
        ",
    );
}
