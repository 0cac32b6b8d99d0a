//! Input that is never taken for an entity, with the reason that is recorded.

use super::check;

#[test]
fn paths_out_of_the_workspace() {
    check(
        "refusals__paths_out_of_the_workspace",
        "`..`, absolute, home, UNC and device paths are refused with a reason, and nothing of them is tracked.",
        r"
        user
        | ```c:../up.c
        | int up(void) { return 1; }
        | ```
        | ```c:/etc/abs.c
        | int absolute(void) { return 1; }
        | ```
        | ```c:src/../../deep.c
        | int deep(void) { return 1; }
        | ```
        | ```c://server/share/unc.c
        | int unc(void) { return 1; }
        | ```
        | ```c:nul.c
        | int device(void) { return 1; }
        | ```
        | ```c title=C:\win.c
        | int drive(void) { return 1; }
        | ```
        ",
    );
}

#[test]
fn odd_characters_in_paths() {
    check(
        "refusals__odd_characters_in_paths",
        "Control characters, bidirectional overrides and zero-width characters in a path: refused.",
        "
        user
        | ```c:src/\u{202e}c.evil.c
        | int bidi(void) { return 1; }
        | ```
        | ```c:src/a\u{200b}.c
        | int zero_width(void) { return 1; }
        | ```
        | ```c:src/\u{7}bell.c
        | int bell(void) { return 1; }
        | ```
        ",
    );
}

#[test]
fn paths_that_differ_in_case() {
    check(
        "refusals__paths_that_differ_in_case",
        "A path that differs from a known one in case alone may be the same file: nothing is guessed, the user is told.",
        "
        full the notice about code of the user's that was not taken
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | ```c:src/A.c
        | int a(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn credentials() {
    check(
        "refusals__credentials",
        "A key in a file doesn't enter the ledger: its function is known and never shown, the others are as always, and a change that adds a key is refused.",
        r#"
        full the key is in no table and in no later prompt
        policy history window
        disk src/a.c
        | const char *key(void) { return "sk-abcdefghijklmnop1234567890"; }
        |
        | int one(int x) {
        |     return x + 1;
        | }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        user
        | What do `key` and `one` in src/a.c do?
        model
        | Little.
        user
        | Make `one` add two.
        model
        | ```c:src/a.c
        | int one(int x) {
        |     return x + 2;
        | }
        | ```
        user
        | Let `one` log in.
        model
        | ```c:src/a.c
        | int one(int x) {
        |     login("sk-qrstuvwxyzabcdef1234567890");
        |     return x + 2;
        | }
        | ```
        user
        | Go on.
        "#,
    );
}

#[test]
fn a_line_with_a_credential_stays_as_it_is() {
    check(
        "refusals__a_line_with_a_credential_stays_as_it_is",
        "A function may change around its credential, which the client's messages show.",
        r#"
        policy history client
        user
        | ```c:src/a.c
        | int log_in(void) {
        |     const char *key = "sk-abcdefghijklmnop1234567890";
        |     return connect(key);
        | }
        | ```
        model
        | Fine.
        user
        | Let `log_in` retry once.
        model
        | ```c:src/a.c
        | int log_in(void) {
        |     const char *key = "sk-abcdefghijklmnop1234567890";
        |     if (connect(key) == 0) return 0;
        |     return connect(key);
        | }
        | ```
        "#,
    );
}

#[test]
fn private_key_in_pieces() {
    check(
        "refusals__private_key_in_pieces",
        "A private key in a reply that is recorded piece by piece: no piece of it enters the ledger.",
        "
        user
        | Make me a key.
        model pieces
        | Here:
        | -----BEGIN RSA PRIVATE KEY-----
        | MIIEpAIBAAKCAQEA7bq0secret
        | MIIEpAIBAAKCAQEA7bq0secret
        | -----END RSA PRIVATE KEY-----
        | Keep it safe.
        user
        | Thanks.
        ",
    );
}

#[test]
fn binary_junk() {
    check(
        "refusals__binary_junk",
        "Junk in a fence with a path: UNRESOLVED.",
        "
        user
        | ```c:src/a.c
        | \u{1}\u{2}\u{fffd}\u{fffd}}}}{{{ ((( \u{3}
        | ```
        ",
    );
}

#[test]
fn search_replace_in_a_fence() {
    check(
        "refusals__search_replace",
        "A SEARCH/REPLACE block holds the old and the new code; read as code it would be both.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | int a(int x) { return x + 1; }
        | =======
        | int a(int x) { return x + 7; }
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn a_diff_in_a_fence() {
    check(
        "refusals__diff",
        "A diff isn't code of the file that it names.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | ```diff:src/a.c
        | -int a(int x) { return x + 1; }
        | +int a(int x) { return x + 7; }
        | ```
        ",
    );
}

#[test]
fn a_shell_fence_after_a_path() {
    check(
        "refusals__shell",
        "A shell command after a path is not the file's code.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | src/a.c
        | ```bash
        | int a(int x) { return x + 7; }
        | ```
        ",
    );
}

#[test]
fn garbage_beside_a_definition() {
    check(
        "refusals__garbage",
        "A block of the model's stands or falls as a whole: what can't be parsed keeps the rest out.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | @@@ %%% garbage (((
        | ```
        ",
    );
}

#[test]
fn repeated_stale_code_keeps_the_rest_out() {
    check(
        "refusals__repeats_stale",
        "A block that repeats STALE code was written on it, so its new function isn't promoted either.",
        "
        disk src/a.c
        | int a(int x) { return x + 1; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        disk src/a.c
        | int a(int x) { return x + 2; }
        user
        | Add a function b.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return a(x); }
        | ```
        ",
    );
}

#[test]
fn a_quoted_conversation_is_nobodys_paste() {
    check(
        "refusals__quoted_conversation",
        "A client's own task quotes the conversation; refused code in it doesn't become the user's.",
        "
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { /* ... rest unchanged */ }
        | ```
        new
        user
        | ### Task:
        | Generate a title.
        | <chat_history>
        | ASSISTANT: src/a.c
        | ```c
        | int a(int x) { return 0; }
        | ```
        | </chat_history>
        ",
    );
}
