//! Code in older messages: what isn't true any more is withheld however it got there, all else stays (spec §15.6).

use super::check;

/// `policy` and what comes first, then a file of two functions that disk and the user agree on.
pub(super) fn pasted(before: &str) -> String {
    format!(
        "{before}
        disk src/a.c
        | int add(int a, int b) {{ return a + b; }}
        |
        | int sub(int a, int b) {{ return a - b; }}
        user
        | ```c:src/a.c
        | int add(int a, int b) {{ return a + b; }}
        |
        | int sub(int a, int b) {{ return a - b; }}
        | ```
        model
        | Noted.
        "
    )
}

/// Somebody edits the file, and the user asks for it.
pub(super) const EDITED: &str = "
        disk src/a.c
        | int add(int a, int b) { return a + b + 1; }
        |
        | int sub(int a, int b) { return a - b; }
        user
        | And now `add`?
        ";

#[test]
fn quoted_by_the_model() {
    let story = pasted("")
        + "
        user
        | Show me `add`
        model
        | With its path:
        | ```c:src/a.c
        | int add(int a, int b) { return a + b; }
        | ```
        | Without:
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Without a language:
        | ```
        | int add(int a, int b) { return a + b; }
        | ```
        | The other one:
        | ```c
        | int sub(int a, int b) { return a - b; }
        | ```
        | One of mine:
        | ```c
        | int add_all(int a, int b) { return b + a; }
        | ```
        "
        + EDITED;
    check(
        "older_code__quoted_by_the_model",
        "What the model quoted is withheld once disk contradicts it; its quote of what is true and its own code stay.",
        &story,
    );
}

#[test]
fn quoted_by_the_model_in_the_clients_history() {
    let story = pasted("policy history client")
        + "
        user
        | Show me `add`
        model
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        "
        + EDITED;
    check(
        "older_code__quoted_by_the_model_in_the_clients_history",
        "The same where the client's own messages go along.",
        &story,
    );
}

#[test]
fn pasted_again_in_part() {
    let story = pasted("policy history client")
        + "
        user
        | I mean this one:
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | I see.
        "
        + EDITED;
    check(
        "older_code__pasted_again_in_part",
        "A function pasted again out of a file that is known is no new capture, and withheld with it.",
        &story,
    );
}

#[test]
fn results_of_tools() {
    let story = pasted("")
        + "
        new
        tools
        user
        | Read src/a.c and list the folder.
        call read_file
        | {\"path\": \"src/a.c\"}
        call list
        | {\"path\": \"src\"}
        model
        | Reading.
        context tool
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        context tool
        | a.c b.c
        context assistant
        | I have read it.
        "
        + EDITED
        + "
        context assistant
        | I read it with numbers.
        context tool
        |      1\tint add(int a, int b) { return a + b; }
        |      2\t
        |      3\tint sub(int a, int b) { return a - b; }
        context assistant
        | In JSON, too.
        context tool
        | {\"output\": \"int add(int a, int b) { return a + b; }\\n\", \"status\": 0}
        context assistant
        | Yes.
        user
        | Once more: `add`?
        ";
    check(
        "older_code__results_of_tools",
        "A file's bare text, its numbered lines, or a text in JSON, in a tool's older result.",
        &story,
    );
}

#[test]
fn results_of_tools_about_other_files() {
    let story = pasted("")
        + "
        new
        tools
        user
        | Read the copies and show me what has changed.
        call read_file
        | {\"path\": \"vendor/a.c\"}
        call read_file
        | {\"path\": \"/elsewhere/src/a.c\"}
        call diff
        | {}
        model
        | Reading.
        context tool
        | int add(int a, int b) { return a + b; }
        context tool
        | int add(int a, int b) { return a + b; }
        context tool
        | --- a/src/a.c
        | +++ b/src/a.c
        | @@ -1,3 +1,3 @@
        | -int add(int a, int b) { return a + b; }
        | +int add(int a, int b) { return a + b + 1; }
        |
        |  int sub(int a, int b) { return a - b; }
        context assistant
        | I have read them.
        "
        + EDITED;
    check(
        "older_code__results_of_tools_about_other_files",
        "What a tool read of a file that nothing is known of is that file's, and a diff that it returns says what changed: both stay.",
        &story,
    );
}

#[test]
fn arguments_of_calls() {
    let story = pasted("")
        + r#"
        new
        tools
        user
        | Write it again, then change `sub`.
        call write_file
        | {"path": "src/a.c", "content": "int add(int a, int b) { return a + b; }\n\nint sub(int a, int b) { return a - b; }\n"}
        call edit
        | {"path": "src/b.c", "old_string": "", "new_string": "int other(void) { return 1; }\n"}
        call multi_edit
        | {"path": "src/a.c", "edits": [{"old_string": "int add(int a, int b) { return a + b; }", "new_string": "int add(int a, int b) { return b + a; }"}]}
        call read_file
        | {"path": "src/a.c"}
        model
        | Writing.
        context tool
        | written
        context assistant
        | Done.
        "#
        + EDITED;
    check(
        "older_code__arguments_of_calls",
        "The texts in a tool call's arguments are replaced by the marker, and the arguments stay JSON.",
        &story,
    );
}

#[test]
fn other_line_ends() {
    let quote = "| ```c:src/a.c\n| int add(int a, int b) {\n|     return a + b;\n| }\n| ```\n";
    // The line language takes one carriage return off.
    let with_crlf = quote.replace('\n', "\r\r\n");
    check(
        "older_code__other_line_ends",
        "Line ends, trailing blanks and common indentation are no difference here either.",
        &format!(
            "policy history client
            user
            {quote}
            model
            | Noted.
            user
            | As my editor has it:
            {with_crlf}
            model
            | The same, indented:
            | ```c
            |     int add(int a, int b) {{
            |         return a + b;
            |     }}
            | ```
            user
            | ```c:src/a.c
            | int add(int a, int b) {{ return a + b + 1; }}
            | ```
            | I have changed it.
            "
        ),
    );
}

#[test]
fn confirmed_and_superseded() {
    check(
        "older_code__confirmed_and_superseded",
        "A refused proposal stays in sight; once it was confirmed and something else took its place, it is withheld.",
        "
        policy history client
        user
        | ```c:src/a.c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | Noted.
        disk src/a.c
        | int add(int a, int b) { return a + b + 1; }
        user
        | Turn `add` round.
        model
        | ```c:src/a.c
        | int add(int a, int b) { return b + a; }
        | ```
        user
        | Is that all of it?
        model
        | Yes.
        user
        | @tslp confirm src/a.c::add
        model
        | Good.
        user
        | ```c:src/a.c
        | int add(int a, int b) { return a - -b; }
        | ```
        | Mine is better.
        ",
    );
}

#[test]
fn in_a_system_message() {
    let story = pasted("")
        + "
        full a marker in a system message
        new
        context system
        | You help with this file:
        |
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        | ```
        |
        | Its other half:
        | ```c:src/b.c
        | int other(void) { return 1; }
        | ```
        "
        + EDITED;
    check(
        "older_code__in_a_system_message",
        "The client's system message is no younger than its history.",
        &story,
    );
}

#[test]
fn true_in_another_file() {
    check(
        "older_code__true_in_another_file",
        "Code that one file left behind and another holds: it stays, unless it names the file that left it behind.",
        "
        policy history client
        user
        | ```c:src/a.c
        | int add(int a, int b) { return a + b; }
        | ```
        | ```c:src/b.c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | Both the same:
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        user
        | ```c:src/a.c
        | int add(int a, int b) { return a + b + 1; }
        | ```
        | Now they differ.
        ",
    );
}

#[test]
fn files_behind_older_code_are_looked_at() {
    let story = pasted("")
        + "
        disk src/a.c
        | int add(int a, int b) { return a + b + 1; }
        |
        | int sub(int a, int b) { return a - b; }
        user
        | Go on.
        ";
    check(
        "older_code__files_behind_older_code_are_looked_at",
        "The prompt names nothing, but its history holds code of a file: what disk holds of it is asked before it goes out.",
        &story,
    );
}
