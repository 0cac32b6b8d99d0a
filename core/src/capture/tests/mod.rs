//! Whole messages as clients and models write them, and messages made to be hard to read.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(super) mod shown;

use super::*;
use crate::edit::{self, BaseTexts, Edit, Hunk};

/// One line a block: format, path, authorship where it isn't said, closing where it isn't closed, and what it is.
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = blocks(text).iter().map(line).collect();
    assert_eq!(found, expected, "{text}");
}

fn line(block: &CodeBlock<'_>) -> String {
    let quoted = match block.authorship {
        Authorship::Own => "",
        Authorship::Quoted => " quoted",
    };
    let unclosed = match block.closing {
        Closing::Closed => "",
        Closing::Unclosed => " unclosed",
    };
    let path = block.path.as_deref().unwrap_or("-");
    let payload = shown::payload(block);
    format!(
        "{} {path}{quoted}{unclosed} {payload}",
        block.format.as_str()
    )
}

/// What a message makes of a file.
fn applied(text: &str, base: &str) -> Result<String, edit::EditError> {
    let mut file = base.to_string();
    for block in blocks(text) {
        let Some(Ok(Edit::Change(hunks) | Edit::Move { hunks, .. })) = block.edit else {
            panic!("no change: {}", line(&block));
        };
        let changed = edit::apply(&hunks, BaseTexts::Whole(&file))?.remove(0);
        file = changed.unwrap_or(file);
    }
    Ok(file)
}

const BASE: &str =
    "#include <stdio.h>\n\nint main(void) {\n    puts(\"hello\");\n    return 0;\n}\n";
const CHANGED: &str =
    "#include <stdio.h>\n\nint main(void) {\n    puts(\"goodbye\");\n    return 0;\n}\n";

#[test]
fn aider_diff() {
    let text = "I'll change the greeting.\n\nsrc/main.c\n```c\n<<<<<<< SEARCH\n    puts(\"hello\");\n=======\n    puts(\"goodbye\");\n>>>>>>> REPLACE\n```\n\nThat is all.\n";
    check(text, &["search_replace src/main.c change 1"]);
    assert_eq!(applied(text, BASE).as_deref(), Ok(CHANGED));
    assert_eq!(applied(text, CHANGED), Err(edit::EditError::NotFound));
}

#[test]
fn aider_block_without_file() {
    check(
        "```c\nsrc/main.c\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\nAnd then:\n\n```c\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE\n```\n",
        &[
            "search_replace src/main.c change 1",
            "search_replace src/main.c change 1",
        ],
    );
    check(
        "<source>\nsrc/main.c\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n</source>\n",
        &["search_replace src/main.c change 1"],
    );
}

#[test]
fn aider_fences_in_file() {
    check(
        "README.md\n```\n<<<<<<< SEARCH\n```c\nint a;\n```\n=======\n```c\nint b;\n```\n>>>>>>> REPLACE\n```\n",
        &["search_replace README.md change 1"],
    );
    // Where REPLACE never comes, the fence ends where it seems to.
    check(
        "a.c\n```\n<<<<<<< SEARCH\na\n```\nb.c\n```\nint b;\n```\n",
        &["search_replace a.c malformed", "fence b.c \"int b;\\n\""],
    );
}

#[test]
fn aider_bare() {
    check(
        "src/main.c\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nc\n=======\nd\n>>>>>>> REPLACE\n",
        &[
            "search_replace src/main.c change 1",
            "search_replace src/main.c change 1",
        ],
    );
    check(
        "new.c\n<<<<<<< SEARCH\n=======\nint x;\n>>>>>>> REPLACE\n\na.c\n<<<<<<< SEARCH\nx\n=======\ny\n",
        &[
            "search_replace new.c change 1",
            "search_replace a.c unclosed malformed",
        ],
    );
}

#[test]
fn aider_udiff() {
    let text = "```diff\n--- src/main.c\n+++ src/main.c\n@@ ... @@\n int main(void) {\n-    puts(\"hello\");\n+    puts(\"goodbye\");\n     return 0;\n```\n";
    check(text, &["unified_diff src/main.c change 1"]);
    assert_eq!(applied(text, BASE).as_deref(), Ok(CHANGED));
    assert_eq!(
        applied(text, &BASE.replace('\n', "\r\n")),
        Ok(CHANGED.replace('\n', "\r\n"))
    );
}

#[test]
fn aider_whole() {
    check(
        "src/main.c\n```\nint main(void) { return 0; }\n```\n\nsrc/b.c\n````\n```\n````\n",
        &[
            "fence src/main.c \"int main(void) { return 0; }\\n\"",
            "fence src/b.c \"```\\n\"",
        ],
    );
}

#[test]
fn git_diffs() {
    let diff = "diff --git a/a.c b/a.c\nindex 123..456 100644\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n--- /dev/null\n+++ b/b.c\n@@ -0,0 +1 @@\n+int b;\n";
    let expected = &[
        "unified_diff a.c change 1",
        "unified_diff b.c create \"int b;\\n\"",
    ];
    check(&format!("Apply this:\n\n{diff}\nDone.\n"), expected);
    check(&format!("```diff\n{diff}```\n"), expected);
    check(&format!("```\n{diff}```\n"), expected);
    check(
        &format!("- step\n  ```diff\n  {}```\n", diff.replace('\n', "\n  ")),
        expected,
    );
    check(
        "src/a.c\n```diff\n@@ -1 +1 @@\n-x\n+y\n```\n",
        &["unified_diff src/a.c change 1"],
    );
    check(
        "```diff:src/a.c\n-x\n+y\n```\n",
        &["unified_diff src/a.c change 1"],
    );
    check(
        "```diff\n- the old way\nthe new way\n```\n",
        &["unified_diff - malformed"],
    );
}

#[test]
fn codex() {
    let patch = "*** Begin Patch\n*** Update File: src/main.c\n@@ int main(void) {\n-    puts(\"hello\");\n+    puts(\"goodbye\");\n*** End Patch\n";
    check(patch, &["apply_patch src/main.c change 1"]);
    assert_eq!(applied(patch, BASE).as_deref(), Ok(CHANGED));
    check(
        &format!("```\n{patch}```\n"),
        &["apply_patch src/main.c change 1"],
    );
    let heredoc = format!("apply_patch <<'EOF'\n{patch}EOF\n");
    check(
        &format!("{heredoc}```c\nint x;\n```\n"),
        &["apply_patch src/main.c change 1", "fence - \"int x;\\n\""],
    );
    check(
        &format!("```bash\n{heredoc}```\n"),
        &["apply_patch src/main.c change 1"],
    );
    check(
        "*** Begin Patch\n*** Delete File: a.c\n*** Update File: b.c\n*** Move to: c.c\n@@\n-x\n+y\n*** End Patch\n",
        &["apply_patch a.c delete", "apply_patch b.c move to c.c 1"],
    );
    check(
        "*** Begin Patch\n*** Delete File: a.c\n```c\nint x;\n```\n",
        &["apply_patch a.c unclosed malformed"],
    );
}

#[test]
fn cline() {
    check(
        "<thinking>\nThe file `a.c` needs a change.\n</thinking>\n\n<replace_in_file>\n<path>src/main.c</path>\n<diff>\n------- SEARCH\n    puts(\"hello\");\n=======\n    puts(\"goodbye\");\n+++++++ REPLACE\n\n</diff>\n</replace_in_file>\n\n<write_to_file>\n<path>b.c</path>\n<content>\nint b;\n</content>\n</write_to_file>\n",
        &[
            "search_replace src/main.c change 1",
            "tags b.c \"int b;\\n\"",
        ],
    );
    check(
        "<task>\nFix 'a.c' (see below for file content)\n</task>\n\n<file_content path=\"a.c\">\nint a;\n</file_content>\n\n<environment_details>\n# Visual Studio Code Visible Files\na.c\n</environment_details>\n",
        &["tags a.c \"int a;\\n\""],
    );
}

#[test]
fn roo() {
    check(
        "<apply_diff>\n<path>a.c</path>\n<diff>\n<<<<<<< SEARCH\n:start_line:4\n:end_line:5\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n\n<<<<<<< SEARCH\n:start_line:9\n-------\nz\n=======\n>>>>>>> REPLACE\n</diff>\n</apply_diff>\n",
        &["search_replace a.c change 2"],
    );
}

#[test]
fn leaked_calls() {
    check(
        "Now I write it.\n\n<tool_call>\n{\"name\": \"Write\", \"arguments\": {\"file_path\": \"/w/a.c\", \"content\": \"int a;\\n```\\n\"}}\n</tool_call>\n<tool_call>\n<function=edit>\n<parameter=filePath>\n/w/a.c\n</parameter>\n<parameter=oldString>\nint a;\n</parameter>\n<parameter=newString>\nint b;\n</parameter>\n</function>\n</tool_call>\n```c\nx\n```\n",
        &[
            "leaked_tool_call /w/a.c \"int a;\\n```\\n\"",
            "leaked_tool_call /w/a.c change 1",
            "fence - \"x\\n\"",
        ],
    );
    check(
        "```json\n<tool_call>{\"name\": \"write\", \"arguments\": {\"path\": \"a.c\", \"content\": \"x\"}}</tool_call>\n```\n",
        &["leaked_tool_call a.c \"x\""],
    );
}

#[test]
fn quoted_markers() {
    check(
        "```rust:src/a.rs\nlet marker = \"<<<<<<< SEARCH\";\nassert!(line == \">>>>>>> REPLACE\\n\");\n```\n",
        &[
            "fence src/a.rs \"let marker = \\\"<<<<<<< SEARCH\\\";\\nassert!(line == \\\">>>>>>> REPLACE\\\\n\\\");\\n\"",
        ],
    );
    check(
        "```c:a.c\n<<<<<<< HEAD\nint a;\n=======\nint b;\n>>>>>>> main\n```\n",
        &["fence a.c \"<<<<<<< HEAD\\nint a;\\n=======\\nint b;\\n>>>>>>> main\\n\""],
    );
    check(
        "```rust:src/a.rs\nlet text = r\"\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n\";\n```\n",
        &["search_replace src/a.rs malformed"],
    );
    check(
        "```rust:src/a.rs\nlet text = r\"\n*** Begin Patch\n*** Delete File: a.c\n*** End Patch\n\";\n```\n",
        &["apply_patch a.c malformed"],
    );
    check(
        "Use `<<<<<<< SEARCH` and `*** Begin Patch`.\n---\n+++\n=======\n",
        &[],
    );
}

/// What a construct contains is not searched for further constructs.
#[test]
fn content_of_construct() {
    check(
        "<file_content path=\"a.md\">\n```c:b.c\nint b;\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n</file_content>\n",
        &[
            "tags a.md \"```c:b.c\\nint b;\\n```\\n<<<<<<< SEARCH\\nx\\n=======\\ny\\n>>>>>>> REPLACE\\n\"",
        ],
    );
    check(
        "```xml\n<file path=\"a.c\">\nx\n</file>\n```\n",
        &["fence - \"<file path=\\\"a.c\\\">\\nx\\n</file>\\n\""],
    );
    check(
        "[read_file for 'a.md'] Result:\n```c:b.c\nint b;\n```\n",
        &["tags a.md quoted \"```c:b.c\\nint b;\\n```\\n\""],
    );
}

#[test]
fn control_characters() {
    check(
        "a.c\n```c\n\u{0}\u{7}\u{1b}[0m\r\n```\n",
        &["fence a.c \"\\0\\u{7}\\u{1b}[0m\\r\\n\""],
    );
    check("\u{0}```\n", &[]);
    check(
        "<<<<<<< SEARCH\r\n\u{0}\r\n=======\r\n>>>>>>> REPLACE\r\n",
        &["search_replace - change 1"],
    );
}

#[test]
fn blocks_cover_construct() {
    let text = "- x\n  ```\n  a.c\n  <<<<<<< SEARCH\n  a\n  =======\n  b\n  >>>>>>> REPLACE\n  b.c\n  <<<<<<< SEARCH\n  a\n  =======\n  >>>>>>> REPLACE\n  ```\nend";
    let found = blocks(text);
    assert_eq!(found.len(), 2);
    assert!(text[found[0].outer.clone()].starts_with("  ```\n  a.c"));
    assert!(text[found[1].outer.clone()].starts_with("  b.c\n"));
    assert_eq!(found[0].outer.end, found[1].outer.start);
    assert_eq!(&text[found[1].outer.end..], "end");
    let Some(Ok(Edit::Change(hunks))) = &found[1].edit else {
        panic!("a change");
    };
    assert!(matches!(&hunks[0], Hunk::Replace { old, new, .. } if old == "a\n" && new.is_empty()));
}

/// Texts of megabytes that would take hours if anything were searched to the end again and again.
#[test]
fn linear_search() {
    const TIMES: usize = 50_000;
    for opening in [
        "```\n~~~\n",
        "<code>\n",
        "<file>\n",
        "<file path=\"a\">\n",
        "<file>\n<path>a</path>\n",
        "<file>\n<path>a</path>\n<content>\n",
        "<file>\n00001| a\n",
        "<document>\n<source>a</source>\n",
        "<document>\n<source>a</source>\n<document_content>\n",
        "<write_to_file>\n",
        "<write_to_file>\n<path>a</path>\n",
        "<replace_in_file>\n<diff>\n",
        "<apply_diff>\n<args>\n<file>\n<diff>\n",
        "<file_content path=\"a\">\n",
        "<path>a</path>\n<type>file</type>\n<content>\n",
        "<<<<<<< SEARCH\n",
        "<<<<<<< SEARCH\n=======\n",
        "```\n<<<<<<< SEARCH\n```\n",
        "```\n>>>>>>> REPLACE\n```\n",
        "--- a\n+++ b\n@@\n",
        "diff --git a/a b/b\nindex 1\n\n\n",
        "*** Begin Patch\n",
        "*** Begin Patch\n*** End Patch\n",
        "apply_patch <<EOF\n",
        "[read_file for 'a'] Result:\n",
        "[x for 'a'] Result:\n<feedback>\n",
        "1 | a\n2 | b\n",
        "<tool_call>{\"name\": \"",
        "<tool_call>\n{\n",
        "<tool_call>{}\n",
        "<function=a>\n<parameter=b>\n",
        "<function=a>\n</function>\n",
        "<tool_call>",
        "a.c\n<pre>\n",
        "\n",
        "`",
    ] {
        let endings = [
            "</file>",
            "</content>",
            "</document>",
            "</write_to_file>",
            "</tool_call>",
            "</function>",
            "</code>",
            ">>>>>>> REPLACE",
        ];
        for ending in [String::new(), endings.join("\n")] {
            let text = format!("{}{ending}", opening.repeat(TIMES));
            // Not the first blocks alone, as in `blocks`: all of them.
            let found = scan::BlockScanner::new(&text).count();
            assert!(found <= 3 * TIMES, "{opening}");
        }
    }
}

#[test]
fn large_messages() {
    let line = "int x = 1; /* a line of code */\n";
    let code = line.repeat(10_000_000 / line.len());
    let text = format!("a.c\n```c\n{code}```\n");
    let found = blocks(&text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, code);
    let many = "a.c\n```c\nint x;\n```\n".repeat(5_000);
    assert_eq!(blocks(&many).len(), BLOCKS_PER_MESSAGE_MAX);
    let hunks = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n".repeat(50_000);
    let text = format!("a.c\n```c\n{hunks}```\n");
    let found = blocks(&text);
    assert!(matches!(&found[0].edit, Some(Ok(Edit::Change(hunks))) if hunks.len() == 50_000));
}
