//! Files move while a conversation goes on: somebody saves late, undoes, edits by hand, renames or deletes.

use super::check;

/// Two functions, pasted and on disk; the model changes the first in a chat.
const CHANGED_IN_CHAT: &str = "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
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
        | int a(int x) { return x + 7; }
        | ```
";

fn story(name: &str, what: &str, parts: &[&str]) {
    check(&format!("moving_files__{name}"), what, &parts.concat());
}

#[test]
fn not_saved_while_the_user_edits_elsewhere() {
    story(
        "not_saved_while_the_user_edits_elsewhere",
        "An accepted change that isn't saved stays the current version while the user edits another function of the file; that one is STALE.",
        &[
            CHANGED_IN_CHAT,
            "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 200; }
        user
        | What do a() and b() do?
        ",
        ],
    );
}

#[test]
fn saved_and_undone() {
    story(
        "saved_and_undone",
        "Once disk has held an accepted change, the older version there is an undo: STALE, not waiting to be saved.",
        &[
            CHANGED_IN_CHAT,
            "
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | I saved it. What does a() do?
        model
        | It adds 7.
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | And a() now?
        ",
        ],
    );
}

#[test]
fn two_changes_before_the_first_is_saved() {
    story(
        "two_changes_before_the_first_is_saved",
        "A second change is judged against the first one, which isn't saved yet, and both lack nothing but the saving.",
        &[
            CHANGED_IN_CHAT,
            "
        user
        | Add a function c() below a(), and make a() add 8
        model
        | ```c:src/a.c
        | int a(int x) { return x + 8; }
        | int c(int x) { return x + 3; }
        | ```
        user
        | Show me a() and c()
        ",
        ],
    );
}

#[test]
fn two_windows_race() {
    story(
        "two_windows_race",
        "What one window's accepted change made and nobody saved is shown to the other window with a warning; a change that the other window made of the older version is refused.",
        &[
            CHANGED_IN_CHAT,
            "
        client B
        user
        | Explain a() in src/a.c
        client A
        user
        | And make a() add 9
        model
        | ```c:src/a.c
        | int a(int x) { return x + 9; }
        | ```
        client B
        model
        | ```c:src/a.c
        | int a(int x) { return x + 70; }
        | ```
        user
        | Once more, a() please
        ",
        ],
    );
}
