//! Every shape in which older messages show code, and what must stay.

use super::*;

/// Takes out what says OLD and leaves `path` in its place; STAYS in a piece keeps all of it.
fn judged(piece: &Piece<'_>) -> Verdict {
    if piece.code.contains("STAYS") {
        return Verdict::Stays;
    }
    let Some(at) = piece.code.find("OLD") else {
        return Verdict::Open;
    };
    let path = piece.path.unwrap_or("-");
    let named = piece.named.join("+");
    Verdict::Goes(Gone {
        reach: at + 3,
        marker: format!("({:?} {path}{named})", piece.by),
    })
}

fn check_talk(text: &str, expected: &str) {
    let changed = talk(text, &mut judged);
    assert_eq!(changed.as_deref().unwrap_or(text), expected, "{text}");
}

fn call(arguments: &str) -> ToolCall {
    ToolCall {
        name: "tool".into(),
        arguments: arguments.into(),
    }
}

fn check_result(arguments: &str, text: &str, expected: &str) {
    let changed = result(text, Some(&call(arguments)), &mut judged);
    assert_eq!(changed.as_deref().unwrap_or(text), expected, "{text}");
}

fn check_arguments(arguments: &str, expected: &str) {
    let changed = super::arguments(&call(arguments), None, &mut judged);
    assert_eq!(changed.as_deref().unwrap_or(arguments), expected);
}

#[test]
fn blocks_in_talk() {
    check_talk(
        "OLD\n```c:a.c\nOLD\n```\nx\n```c\nnew\n```\nOLD",
        "OLD\n(Writer a.c)\nx\n```c\nnew\n```\nOLD",
    );
    check_talk("```c:a.c\nSTAYS OLD\n```\n", "```c:a.c\nSTAYS OLD\n```\n");
}

#[test]
fn here_documents_in_fences() {
    let script = |body: &str| format!("1.\n```bash\ncat > a.c <<EOF\n{body}EOF\nmake\n```\n");
    check_talk(&script("OLD\n"), &script("(Script a.c)\n"));
    check_talk(&script("new\n"), &script("new\n"));
    check_talk(
        "I run\n<command>cat > a.c <<'EOF'\nOLD\nEOF</command>\n$ cat b.c\nOLD\n$ ls\n",
        "I run\n<command>cat > a.c <<'EOF'\n(Script a.c)\nEOF</command>\n$ cat b.c\n(Terminal b.c)\n$ ls\n",
    );
    // Indented, a part of it can't be replaced.
    check_talk(
        "- x\n  ```bash\n  cat > a.c <<EOF\n  OLD\n  EOF\n  ```\ny\n",
        "- x\n(Writer -)\ny\n",
    );
}

#[test]
fn terminals_in_talk() {
    check_talk(
        "OLD\n$ cat a.c\nOLD;\nint b;\n$ ls\na.c\n",
        "OLD\n$ cat a.c\n(Terminal a.c)\nint b;\n$ ls\na.c\n",
    );
    check_talk(
        "```console\n$ cat a.c b.c\nOLD;\n$ ls\na.c\n```\n",
        "```console\n$ cat a.c b.c\n(Terminal -a.c+b.c)\n$ ls\na.c\n```\n",
    );
    check_talk(
        "==> a.c <==\n   1\tint x;\n   2\tOLD\n\nWhy?\n",
        "==> a.c <==\n(Terminal a.c)\n\nWhy?\n",
    );
    // People write much that looks like other tools' headings.
    check_talk(
        "a.c:\nOLD\n=== b.c\nOLD\na.c:1:OLD\n",
        "a.c:\nOLD\n=== b.c\nOLD\na.c:1:OLD\n",
    );
}

#[test]
fn quotes_in_talk() {
    check_talk(
        "He:\n> ```c:a.c\n> OLD\n> ```\n>x\n> > ~~~\n> > OLD\n> > ~~~\nOLD\n> OLD\n",
        "He:\n> (Writer a.c)\n>x\n> > (Writer -)\nOLD\n> OLD\n",
    );
    check_talk("> ```c\n> new\n> ```", "> ```c\n> new\n> ```");
    let deep = "> > > > > ```\n> > > > > OLD\n> > > > > ```\n";
    check_talk(deep, deep);
}

#[test]
fn results_of_readers() {
    check_result(r#"{"path":"a.c"}"#, "x\nOLD", "(Reader a.c)");
    check_result(
        r#"{"path":"a.c"}"#,
        "==> b.c <==\nx\n$ cat c.c\nOLD",
        "(Reader a.c)",
    );
    check_result(r#"{"path":"a.c"}"#, "1: x\n2: OLD\n", "(Reader a.c)");
    check_result(
        r#"{"path":"src"}"#,
        "==> b.c <==\nx\n==> c.c <==\nOLD\n",
        "==> b.c <==\nx\n==> c.c <==\n(Terminal c.c)\n",
    );
    check_result(
        r#"{"path":"a.md"}"#,
        "```c\nSTAYS\n```\n```c\nOLD\n```\n",
        "```c\nSTAYS\n```\n```c\nOLD\n```\n",
    );
}

#[test]
fn results_of_shells() {
    check_result(r#"{"command":"cat a.c"}"#, "x\nOLD\ny", "(Terminal a.ca.c)");
    check_result(
        r#"{"command":"cat a.c b.c"}"#,
        "x\nOLD\ny",
        "(Terminal -a.c+b.c)",
    );
    check_result(
        r#"{"command":["bash","-lc","cat a.c"]}"#,
        "OLD",
        "(Terminal a.ca.c)",
    );
    check_result(
        r#"{"command":"head a.c b.c"}"#,
        "x\n==> a.c <==\nOLD\ny\n\n==> b.c <==\nnew\n",
        "x\n==> a.c <==\n(Terminal a.c)\n==> b.c <==\nnew\n",
    );
    check_result(
        r#"{"command":"for …"}"#,
        "=== a.c\nSTAYS OLD\n=== b.c\n```c\nnew\n```\n```c\nOLD\n```\n",
        "=== a.c\nSTAYS OLD\n=== b.c\n(Terminal b.c)\n",
    );
    check_result(
        r#"{"command":"git diff"}"#,
        "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-STAYS\n+y\n",
        "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-STAYS\n+y\n",
    );
}

#[test]
fn results_of_searches() {
    check_result(
        r#"{"pattern":"x","path":"src"}"#,
        "src/a.c-1-x\nsrc/a.c:2:OLD\n--\nsrc/b.c:1:new = 1\n",
        "(Terminal src/a.c)\n--\nsrc/b.c:1:new = 1\n",
    );
    check_result(
        r#"{"command":"grep -n x a.c"}"#,
        "1-x\n2:OLD\n--\n7:new = 1\n",
        "(Terminal -a.c)\n--\n7:new = 1\n",
    );
    check_result(
        r#"{"command":"grep -n x a.c; cat b.c"}"#,
        "1:x = 1\n3:OLD = 1\nint b;\nOLD\n",
        "(Terminal -a.c+b.c)\n",
    );
    check_result(r#"{"query":"x","path":"a.c"}"#, "OLD", "(Search a.c)");
}

#[test]
fn results_in_json() {
    check_result(
        "{}",
        r#"{ "a":"a OLD", "b":1.50, "c":["OLD x","y"], "d":"OLD" }"#,
        r#"{ "a":"(Terminal -)", "b":1.50, "c":["(Terminal -)","y"], "d":"OLD" }"#,
    );
    check_result(
        "{}",
        r#"[{"text":"{\"n\":1.0,\"content\":\"OLD x\",\"path\":\"a.c\"}"}]"#,
        r#"[{"text":"{\"n\":1.0,\"content\":\"(Terminal a.c)\",\"path\":\"a.c\"}"}]"#,
    );
    check_result(
        "{}",
        "{\"a\":\"x\"}\n\n{\"a\":\"OLD x\"}\r\n",
        "{\"a\":\"x\"}\n\n{\"a\":\"(Terminal -)\"}\r\n",
    );
    let mut deep = String::from("OLD x");
    for _ in 0..NESTED_MAX + 1 {
        deep = serde_json::Value::from([deep].as_slice()).to_string();
    }
    check_result("{}", &deep, &deep);
}

#[test]
fn texts_in_arguments() {
    check_arguments(
        r#"{"command":"cat > a.c <<'EOF'\nOLD\nEOF\nmake","n":1.50}"#,
        r#"{"command":"cat > a.c <<'EOF'\n(Script a.c)\nEOF\nmake","n":1.50}"#,
    );
    check_arguments(
        r#"{"command":["bash","-lc","tee a.c b.c <<X\nnew\nX\ncat >> b.c <<X\nOLD\nX"]}"#,
        r#"{"command":["bash","-lc","tee a.c b.c <<X\nnew\nX\ncat >> b.c <<X\n(Script b.c)\nX"]}"#,
    );
    check_arguments(
        r#"{"path":"a.c","content":"OLD","command":"OLD"}"#,
        r#"{"path":"a.c","content":"(Writer a.c)","command":"OLD"}"#,
    );
    check_arguments("OLD", "OLD");
}

/// Texts of megabytes that would take hours if anything were looked through again and again.
#[test]
fn nothing_is_looked_through_twice() {
    const TIMES: usize = 20_000;
    for line in [
        "$ cat a.c <<A <<B\n",
        "$ cat <<A | cat <<A ",
        "==> a.c <==\n",
        "a-b.c-c.c-1-x\n",
        "1:x\n",
        "│x\n",
        "> ```c\n",
        "> > > ",
        "```bash\ncat <<A\n```\n",
        "cat <<A\n",
        "((",
        "'\"\\",
        "{\"a\":\"b c\"}\n",
        "[\"a b\",",
        "me@x ",
        "--------- ",
    ] {
        let text = line.repeat(TIMES);
        let mut count = 0_usize;
        let mut judge = |_: &Piece<'_>| {
            count += 1;
            Verdict::Open
        };
        assert_eq!(talk(&text, &mut judge), None, "{line}");
        assert_eq!(result(&text, None, &mut judge), None, "{line}");
        let script = serde_json::Value::from(text.as_str());
        let call = call(&format!("{{\"command\":{script}}}"));
        assert_eq!(super::arguments(&call, None, &mut judge), None, "{line}");
        assert!(count <= 8 * TIMES, "{line}");
    }
}
