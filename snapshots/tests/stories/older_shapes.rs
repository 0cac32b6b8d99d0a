//! Code in older messages in the shapes that agents' histories have as well as blocks: thoughts, here-documents, what a terminal
//! showed, quotes, JSON in JSON.

use super::check;
use super::older_code::{EDITED, pasted};

#[test]
fn thoughts() {
    let story = pasted("policy history client")
        + "
        full a marker in thoughts
        user
        | Show me `add`
        thought
        | The file says
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | and beside it
        | ```c
        | int sub(int a, int b) { return a - b; }
        | ```
        | so I quote it.
        model
        | It adds.
        user
        | And `sub`?
        thought
        | Nothing to quote.
        model
        | It subtracts.
        "
        + EDITED;
    check(
        "older_shapes__thoughts",
        "What a client sends back of the model's thoughts is judged as its words are.",
        &story,
    );
}

#[test]
fn here_documents() {
    let story = pasted("")
        + r#"
        full markers in messages and in the arguments of calls
        new
        tools
        user
        | Write them again.
        call bash
        | {"command": "mkdir -p src && cat > src/a.c <<'EOF'\nint add(int a, int b) { return a + b; }\nEOF\nmake", "timeout": 1.50}
        call shell
        | {"command": ["bash", "-lc", "tee src/b.c <<X\nint other(void) { return 1; }\nX\ncat <<-Y >> src/a.c\n\tint add(int a, int b) { return a + b; }\n\tY\n"]}
        call bash
        | {"command": "cat > src/a.c <<'EOF'\nint sub(int a, int b) { return a - b; }\nEOF"}
        model
        | I'll run this next:
        | ```bash
        | cat > src/a.c <<'EOF'
        | int add(int a, int b) { return a + b; }
        | EOF
        | make
        | ```
        context tool
        | ok
        context tool
        | ok
        context tool
        | ok
        context assistant
        | Done.
        "#
        + EDITED;
    check(
        "older_shapes__here_documents",
        "Of a shell's command only the lines go that write what isn't true any more.",
        &story,
    );
}

#[test]
fn terminals() {
    let story = pasted("")
        + r#"
        new
        tools
        user
        | I ran this:
        | $ cat src/a.c
        | int add(int a, int b) { return a + b; }
        | $ make
        | ok
        | Have a look at the files.
        call bash
        | {"command": "head src/a.c src/b.c vendor/a.c"}
        call grep
        | {"pattern": "add", "path": "src"}
        call bash
        | {"command": "cat src/a.c src/b.c"}
        call bash
        | {"command": "cat vendor/a.c"}
        call bash
        | {"command": "cd src && cat a.c"}
        call bash
        | {"command": "cat -n src/a.c | head -1"}
        model
        | Reading.
        context tool
        | ==> src/a.c <==
        | int add(int a, int b) { return a + b; }
        |
        | ==> src/b.c <==
        | int other(void) { return 1; }
        |
        | ==> vendor/a.c <==
        | int add(int a, int b) { return a + b; }
        context tool
        | src/a.c:1:int add(int a, int b) { return a + b; }
        | src/a.c-2-
        | --
        | src/a.c:3:int sub(int a, int b) { return a - b; }
        | src/b.c:1:int other(void) { return add(1, 2); }
        context tool
        | int add(int a, int b) { return a + b; }
        | int other(void) { return 1; }
        context tool
        | int add(int a, int b) { return a + b; }
        context tool
        | int add(int a, int b) { return a + b; }
        context tool
        |      1  int add(int a, int b) { return a + b; }
        context assistant
        | I have read them.
        "#
        .replace("     1  int", "     1\tint")
        .as_str()
        + EDITED;
    check(
        "older_shapes__terminals",
        "Where an output says which file a part is of, that part goes alone; a copy that nothing is known of stays.",
        &story,
    );
}

#[test]
fn beside_other_output() {
    let story = pasted("")
        + r#"
        new
        tools
        user
        | Build it and have a look.
        call bash
        | {"command": "make && cat src/a.c"}
        call bash
        | {"command": "make && tail -1 src/a.c"}
        model
        | Building.
        context tool
        | Exit code: 0
        | Output:
        | cc -O2 -c src/a.c
        | int add(int a, int b) {
        |     return a + b;
        | }
        context tool
        | Exit code: 0
        | Output:
        | cc -O2 -c src/a.c
        | int sub(int a, int b) { return a - b; }
        context assistant
        | Built.
        disk src/a.c
        | int add(int a, int b) {
        |     return a + b;
        | }
        |
        | int sub(int a, int b) { return a - b; }
        user
        | @tslp accept src/a.c
        model
        | Yes.
        "#
        + EDITED;
    check(
        "older_shapes__beside_other_output",
        "Where a parser meets a tool's remarks in front of a file's text, a definition behind them is found all the same.",
        &story,
    );
}

#[test]
fn quotes() {
    let story = pasted("policy history client")
        + "
        user
        | He wrote:
        | > Look at this:
        | > ```c
        | > int add(int a, int b) { return a + b; }
        | > ```
        | > and this:
        | > > ```c
        | > > int sub(int a, int b) { return a - b; }
        | > > ```
        | Is he right?
        model
        | Yes.
        "
        + EDITED;
    check(
        "older_shapes__quotes",
        "A fence in a block quote is judged, and the marker stands in the quote.",
        &story,
    );
}

#[test]
fn json() {
    let story = pasted("")
        + r#"
        new
        tools
        user
        | Read.
        call fetch
        | {"id": 1}
        call fetch
        | {"id": 2}
        model
        | Reading.
        context tool
        | [{"type": "text", "text": "{\"path\":\"src/a.c\",\"content\":\"int add(int a, int b) { return a + b; }\\n\",\"size\":1.0}"}]
        context tool
        | {"path": "src/a.c", "content": "int add(int a, int b) { return a + b; }"}
        | {"path": "src/a.c", "content": "int sub(int a, int b) { return a - b; }", "size": 1.0}
        | {"path": "vendor/a.c", "content": "int add(int a, int b) { return a + b; }"}
        context assistant
        | I have read them.
        "#
        + EDITED;
    check(
        "older_shapes__json",
        "JSON in JSON, and lines of JSON: the texts are judged, all else stays as it was written.",
        &story,
    );
}

/// Three languages whose code a remark or a comment above it hides, or whose parser takes it for a part of the code.
const THREE_LANGUAGES: &str = "
        disk src/a.rs
        | pub fn rust_add(v: i64) -> i64 {
        |     v + 101
        | }
        disk src/a.js
        | function jsAdd(v) {
        |   return v + 101;
        | }
        disk src/a.py
        | def py_add(v):
        |     return v + 101
        user
        | ```rust:src/a.rs
        | pub fn rust_add(v: i64) -> i64 {
        |     v + 101
        | }
        | ```
        | ```js:src/a.js
        | function jsAdd(v) {
        |   return v + 101;
        | }
        | ```
        | ```python:src/a.py
        | def py_add(v):
        |     return v + 101
        | ```
        model
        | Noted.
        ";

/// The same as they are read again, and as the model writes of them.
const READ_AGAIN: &str = r#"
        new
        tools
        user
        | Have a look.
        call shell
        | {"command": ["cat", "src/a.rs"]}
        call shell
        | {"command": ["cat", "src/a.js"]}
        model
        | Reading.
        context tool
        | Exit code: 0
        | Wall time: 0.1 seconds
        | Output:
        | pub fn rust_add(v: i64) -> i64 {
        |     v + 101
        | }
        context tool
        | Exit code: 0
        | Output:
        |
        | function jsAdd(v) {
        |   return v + 101;
        | }
        context assistant
        | As it is:
        | ```rust
        | // before
        | pub fn rust_add(v: i64) -> i64 {
        |     v + 101
        | }
        | ```
        | and
        | ```python
        | # before
        | def py_add(v):
        |     return v + 101
        | ```
        | and
        | ```js
        | Here's the result of cat:
        | function jsAdd(v) {
        |   return v + 101;
        | }
        | ```
        | Mine:
        | ```rust
        | // after
        | pub fn rust_add(v: i64) -> i64 {
        |     v + 5
        | }
        | ```
        "#;

#[test]
fn below_remarks_and_comments() {
    let edited = THREE_LANGUAGES
        .split_once("user")
        .map(|(disk, _)| disk.replace("101", "202"))
        .expect("it is pasted by a user");
    let story = [
        THREE_LANGUAGES,
        READ_AGAIN,
        &edited,
        "
        user
        | And now `rust_add`, `jsAdd` and `py_add`?
        ",
    ];
    check(
        "older_shapes__below_remarks_and_comments",
        "A line directly above a definition doesn't hide that it isn't current; what never was true stays.",
        &story.concat(),
    );
}

#[test]
fn true_below_remarks_and_comments() {
    let story = [
        THREE_LANGUAGES,
        READ_AGAIN,
        "
        user
        | And now `rust_add`, `jsAdd` and `py_add`?
        ",
    ];
    check(
        "older_shapes__true_below_remarks_and_comments",
        "What is true stays as it was written, whatever stands above it.",
        &story.concat(),
    );
}

#[test]
fn documented_later() {
    let story = pasted("")
        + r#"
        disk src/a.c
        | // Adds two numbers.
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        user
        | @tslp accept src/a.c
        model
        | Yes.
        new
        tools
        user
        | Read it.
        call bash
        | {"command": "cat src/a.c"}
        call bash
        | {"command": "make && cat src/a.c"}
        model
        | Reading.
        context tool
        | // Adds two numbers.
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        context tool
        | Output:
        | // Adds two numbers.
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        context assistant
        | With its comment:
        | ```c
        | // Adds two numbers.
        | int add(int a, int b) { return a + b; }
        | ```
        | With another:
        | ```c
        | // Adds.
        | int add(int a, int b) { return a + b; }
        | ```
        user
        | And now `add`?
        "#;
    check(
        "older_shapes__documented_later",
        "A function that was given a comment is true with it, though what stands below the comment was replaced.",
        &story,
    );
}
