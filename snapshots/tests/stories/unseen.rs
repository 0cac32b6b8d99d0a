//! Code that the model writes over without having seen it (spec §12: mutation base unacknowledged).

use super::check;

/// The user's function, and what a model makes of it.
const PASTE: &str = "
        user
        | ```c:src/compute.c
        | int compute(int x) { return x * 2 + 1; }
        | ```
        | Keep this.
        model
        | Kept.
";

#[track_caller]
fn after_paste(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PASTE}{story}"));
}

#[test]
fn in_a_new_conversation() {
    after_paste(
        "unseen__in_a_new_conversation",
        "A reply that writes over code which no prompt of its conversation showed stays PROPOSED; the code is shown with the next prompt, and the user may confirm the change.",
        "
        new
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) { return x * 3 + 7; }
        | ```
        user
        | What was that?
        model
        | A change.
        user
        | @tslp confirm src/compute.c::compute
        ",
    );
}

#[test]
fn five_turns_later() {
    let turns = "user\n| And on?\nmodel\n| On.\n".repeat(5);
    check(
        "unseen__five_turns_later",
        "The paste has left the window of recent turns, so the model doesn't see it any more.",
        &format!(
            "policy history window{PASTE}{turns}
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) {{ return x * 3 + 7; }}
        | ```
        "
        ),
    );
}

#[test]
fn still_in_the_window() {
    check(
        "unseen__still_in_the_window",
        "The paste is among the recent turns, so the model sees it though nobody names it.",
        &format!(
            "policy history window{PASTE}
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) {{ return x * 3 + 7; }}
        | ```
        "
        ),
    );
}

#[test]
fn shown_by_then() {
    after_paste(
        "unseen__shown_by_then",
        "Refused once, the model has the code in its next prompt: what it makes of it then is promoted.",
        "
        new
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) { return x * 3 + 7; }
        | ```
        user
        | Once more.
        model
        | ```c:src/compute.c
        | int compute(int x) { return x * 2 + 9; }
        | ```
        ",
    );
}

#[test]
fn in_the_clients_own_messages() {
    let turns = "user\n| And on?\nmodel\n| On.\n".repeat(5);
    check(
        "unseen__in_the_clients_own_messages",
        "Where the client's whole history goes along, the paste is in sight however long ago it was; so is what the model made of it since.",
        &format!(
            "policy history client{PASTE}{turns}
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) {{ return x * 3 + 7; }}
        | ```
        user
        | Another one.
        model
        | ```c:src/compute.c
        | int compute(int x) {{ return x * 4 + 7; }}
        | ```
        "
        ),
    );
}

#[test]
fn withheld_and_true_again() {
    check(
        "unseen__withheld_and_true_again",
        "Code that was withheld from the message that showed it stays so, also once it is true again: the model doesn't see it there.",
        "
        policy history client
        user
        | ```c:src/compute.c
        | int compute(int x) { return x * 2 + 1; }
        | ```
        model
        | Kept.
        client B
        user
        | ```c:src/compute.c
        | int compute(int x) { return x * 5 + 1; }
        | ```
        model
        | Kept.
        client A
        user
        | Go on.
        model
        | On.
        client B
        user
        | Back to this one:
        | ```c:src/compute.c
        | int compute(int x) { return x * 2 + 1; }
        | ```
        model
        | Kept.
        client A
        user
        | Write a poem.
        model
        | ```c:src/compute.c
        | int compute(int x) { return x * 3 + 7; }
        | ```
        ",
    );
}

/// An agent's file of two functions, and its task.
const AGENT: &str = r#"
        tools
        touch
        disk src/compute.c
        | #include <compute.h>
        | int compute(int x) {
        |     return x * 2 + 1;
        | }
        | int other(int x) {
        |     return x * 5 + 1;
        | }
"#;

/// It writes the whole file.
const WRITTEN: &str = r##"
        call write
        | {"path": "src/compute.c", "content": "#include <compute.h>\nint compute(int x) {\n    return x * 3 + 7;\n}\nint other(int x) {\n    return x * 5 + 1;\n}\n"}
        model
        | Writing.
"##;

#[test]
fn read_by_a_tool() {
    check(
        "unseen__read_by_a_tool",
        "An agent that has read the file with a tool has seen it, line numbers or not.",
        &format!(
            r#"{AGENT}
        user
        | Make it triple.
        call read
        | {{"path": "src/compute.c"}}
        model
        | Reading.
        context tool
        |     1  #include <compute.h>
        |     2  int compute(int x) {{
        |     3      return x * 2 + 1;
        |     4  }}
        |     5  int other(int x) {{
        |     6      return x * 5 + 1;
        |     7  }}
        again
        {WRITTEN}
        "#
        ),
    );
}

#[test]
fn written_unread() {
    check(
        "unseen__written_unread",
        "An agent that writes over a file without having read it: refused, and what its client wrote all the same doesn't become true by being on disk.",
        &format!(
            r#"{AGENT}
        user
        | Make it triple.
        {WRITTEN}
        disk src/compute.c
        | #include <compute.h>
        | int compute(int x) {{
        |     return x * 3 + 7;
        | }}
        | int other(int x) {{
        |     return x * 5 + 1;
        | }}
        context tool
        | Written.
        again
        model
        | Done.
        user
        | @tslp accept src/compute.c
        "#
        ),
    );
}

#[test]
fn edit_after_edit() {
    check(
        "unseen__edit_after_edit",
        "An edit quotes what it replaces; what it made is the model's own, so the whole file may follow.",
        &format!(
            r#"{AGENT}
        user
        | Make it triple.
        call edit
        | {{"path": "src/compute.c", "oldString": "    return x * 2 + 1;", "newString": "    return x * 3 + 1;"}}
        model
        | Editing.
        disk src/compute.c
        | #include <compute.h>
        | int compute(int x) {{
        |     return x * 3 + 1;
        | }}
        | int other(int x) {{
        |     return x * 5 + 1;
        | }}
        context tool
        | Edited.
        again
        {WRITTEN}
        "#
        ),
    );
}
