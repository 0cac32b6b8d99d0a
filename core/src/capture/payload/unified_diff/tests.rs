//! Diffs as git, GNU diff and models write them.

use alloc::format;

use super::*;
use crate::capture::tests::shown;

/// One line a file: its path and what is done to it.
fn check(piece: &str, expected: &[&str]) {
    assert_eq!(shown::files(&read(piece, true)), expected, "{piece}");
}

#[test]
fn file_headers() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (header, path) in [
        ("--- a/src/a.c\n+++ b/src/a.c\n", "src/a.c"),
        ("--- src/a.c\n+++ src/a.c\n", "src/a.c"),
        (
            "--- a/src/a.c\t2024-01-01 10:00:00\n+++ b/src/a.c\t2024-01-01 10:00:01\n",
            "src/a.c",
        ),
        ("--- a/x.c\n+++ a/x.c\n", "a/x.c"),
        ("--- a.c.orig\n+++ a.c\n", "a.c"),
        ("--- \"a/x y.c\"\n+++ \"b/x y.c\"\n", "x y.c"),
        (
            "diff --git a/a.c b/a.c\nindex 1234567..89abcde 100644\n--- a/a.c\n+++ b/a.c\n",
            "a.c",
        ),
        ("Index: a.c\n=====\n--- a.c\n+++ a.c\n", "a.c"),
        (
            "commit 12345\n\n    A message.\n\ndiff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n",
            "a.c",
        ),
        ("", "-"),
    ] {
        check(
            &format!("{header}{hunk}"),
            &[&format!("{path} \"a\\n\">\"b\\n\"")],
        );
    }
}

#[test]
fn added_deleted_moved() {
    check(
        "--- /dev/null\n+++ b/a.c\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        &["a.c Create(\"a\\nb\\n\")"],
    );
    check(
        "--- a/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        &["a.c Delete"],
    );
    check(
        "diff --git a/a.c b/a.c\nnew file mode 100644\nindex 0000000..e69de29\n",
        &["a.c Create(\"\")"],
    );
    check(
        "diff --git a/a.c b/a.c\ndeleted file mode 100644\n",
        &["a.c Delete"],
    );
    check(
        "diff --git a/a.c b/b.c\nsimilarity index 100%\nrename from a.c\nrename to b.c\n",
        &["a.c to b.c"],
    );
    check(
        "rename from a.c\nrename to b.c\n--- a/a.c\n+++ b/b.c\n@@ -1 +1 @@\n-x\n+y\n",
        &["a.c to b.c \"x\\n\">\"y\\n\""],
    );
    check(
        "diff --git a/a b.c b/c.c\nsimilarity index 90%\nrename from a b.c\nrename to c.c\n",
        &["a b.c to c.c"],
    );
    check(
        "--- a/a.c\n+++ b/b.c\n@@ -1 +1 @@\n-x\n+y\n",
        &["a.c to b.c \"x\\n\">\"y\\n\""],
    );
    check(
        "--- a/a.c\n+++ b/a.c\n@@ -0,0 +1 @@\n+x\n",
        &["a.c Create(\"x\\n\")"],
    );
}

#[test]
fn several_files() {
    check(
        "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n\n--- a/b.c\n+++ b/b.c\n@@ ... @@\n c\n-d\n\n+e\n@@\n-f\n",
        &[
            "a.c \"a\\n\">\"b\\n\"",
            "b.c \"c\\nd\\n\\n\">\"c\\n\\ne\\n\" \"f\\n\">\"\"",
        ],
    );
}

#[test]
fn header_like_lines() {
    check(
        "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new\n x\n",
        &["q.sql \"-- old comment\\nx\\n\">\"++ new\\nx\\n\""],
    );
}

#[test]
fn no_final_newline() {
    check(
        "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        &["a.c \"a\\nb\">\"a\\nc\""],
    );
    check(
        "@@ -1 +1 @@\n-b\n\\ No newline at end of file\n-c\n+c\n",
        &["- malformed"],
    );
}

#[test]
fn lines_without_place() {
    check(
        "--- a.c\n+++ a.c\n@@ ... @@\n+x\n",
        &["a.c Append(\"x\\n\")"],
    );
    check("--- a.c\n+++ a.c\n@@ -3,0 +4 @@\n+x\n", &["a.c malformed"]);
    check(
        "--- a.c\n+++ a.c\n@@ -1 +1 @@\n-a\n+b\n@@ ... @@\n+x\n",
        &["a.c malformed"],
    );
}

#[test]
fn no_heading() {
    check(" a\n-b\n+c\n", &["- \"a\\nb\\n\">\"a\\nc\\n\""]);
    check(
        "--- a/a.c\n+++ b/a.c\n a\n-b\n",
        &["a.c \"a\\nb\\n\">\"a\\n\""],
    );
    check("+c\n", &["- Append(\"c\\n\")"]);
}

#[test]
fn line_ends_stay() {
    check(
        "@@ -1 +1 @@\r\n-a\r\n+b\r\n\r\n",
        &["- \"a\\r\\n\">\"b\\r\\n\""],
    );
}

#[test]
fn not_a_diff() {
    for piece in [
        "@@ -1 +1 @@\nint x;\n",
        "int x;\n",
        "@@ -1 +1 @@\n a\n",
        "+x\n@@ -1 +1 @@\n-a\n+b\n",
        "@@ -1 +1 @@\n",
    ] {
        check(piece, &["- malformed"]);
    }
    check("--- a/a.c\n+++ b/a.c\nint x;\n", &["a.c malformed"]);
    check(
        "--- \"a/\\303.c\"\n+++ \"b/\\303.c\"\n@@ -1 +1 @@\n-a\n+b\n",
        &["\\303.c malformed"],
    );
    check(
        "diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n",
        &["a.png malformed"],
    );
    let untagged = read("int x;\n@@ -1 +1 @@\n-a\n+b\n", false);
    assert_eq!(untagged.sections[0].edit, Err(Malformed));
}

#[test]
fn end_of_bare_diff() {
    let check = |text: &str, rest: &str| {
        let end = bare_diff_end(text, 0).expect(text);
        assert_eq!(&text[end..], rest);
        assert!(read(&text[..end], false).sections[0].edit.is_ok(), "{text}");
    };
    let diff = "--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
    check(&format!("{diff}That is all.\n"), "That is all.\n");
    check(&format!("{diff}\n- a list\n"), "\n- a list\n");
    check(&format!("{diff}\n{diff}"), &format!("\n{diff}"));
    check(&format!("{diff}{diff}\n```c\n"), "\n```c\n");
    check(diff, "");
    assert_eq!(bare_diff_end("---\ntitle: x\n---\n", 0), None);
    assert_eq!(bare_diff_end("--- a\n+++ b\nint x;", 0), None);
}
