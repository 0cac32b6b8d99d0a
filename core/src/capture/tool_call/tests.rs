//! Tool calls by the shapes of their arguments.

use super::*;
use crate::capture::tests::shown;
use crate::event::PathEvidence;
use alloc::format;

/// One line a block: its path and what is done to it.
fn check(name: &str, arguments: &str, expected: &[&str]) {
    let found: Vec<String> = tool_call(name, arguments)
        .iter()
        .map(|block| {
            let what = match &block.edit {
                None => format!(" {:?} {:?}", block.stated_extent, block.code),
                Some(edit) => shown::edit(edit),
            };
            assert_eq!(block.evidence, PathEvidence::Header);
            assert_eq!(block.format, Format::ToolCall);
            format!("{}{what}", block.path.as_deref().unwrap_or("-"))
        })
        .collect();
    assert_eq!(found, expected, "{name} {arguments}");
}

#[test]
fn whole_files() {
    let expected = &["a.c Whole \"int x;\\n\""];
    check(
        "write",
        r#"{"filePath":"a.c","content":"int x;\n"}"#,
        expected,
    );
    check(
        "Write",
        r#"{"file_path":"a.c","content":"int x;\n"}"#,
        expected,
    );
    check(
        "write_file",
        r#"{"path":"a.c","content":"int x;\n"}"#,
        expected,
    );
    check(
        "write_file",
        r#""{\"path\":\"a.c\",\"content\":\"int x;\\n\"}""#,
        expected,
    );
    check(
        "create_new_file",
        r#"{"filepath":"a.c","contents":"int x;\n"}"#,
        &["a.c Create(\"int x;\\n\")"],
    );
    check(
        "append_to_file",
        r#"{"path":"a.c","content":"x"}"#,
        &["a.c malformed"],
    );
    check(
        "insert_content",
        r#"{"path":"a.c","line":3,"content":"x"}"#,
        &["a.c malformed"],
    );
    check(
        "write",
        r#"{"path":"a.json","content":{"a":1}}"#,
        &["a.json malformed"],
    );
}

#[test]
fn texts_are_replaced() {
    let expected = &["a.c \"x\">\"y\""];
    check(
        "edit",
        r#"{"filePath":"a.c","oldString":"x","newString":"y"}"#,
        expected,
    );
    check(
        "Edit",
        r#"{"file_path":"a.c","old_string":"x","new_string":"y","replace_all":false}"#,
        expected,
    );
    check(
        "single_find_and_replace",
        r#"{"filepath":"a.c","old_string":"x","new_string":"y"}"#,
        expected,
    );
    check(
        "editor",
        r#"{"path":"a.c","old_text":"x","new_text":"y"}"#,
        expected,
    );
    check(
        "edit_file",
        r#"{"path":"a.c","old":"x","new":"y"}"#,
        expected,
    );
    check(
        "file_editor",
        r#"{"command":"str_replace","path":"a.c","old_str":"x","new_str":"y"}"#,
        expected,
    );
    check(
        "file_editor",
        r#"{"command":"str_replace","path":"a.c","old_str":"x"}"#,
        &["a.c \"x\">\"\""],
    );
    check(
        "edit",
        r#"{"filePath":"a.c","oldString":"x","newString":"y","replaceAll":true}"#,
        &["a.c Everywhere \"x\">\"y\""],
    );
    check(
        "edit",
        r#"{"filePath":"a.c","oldString":"","newString":"y"}"#,
        &["a.c Create(\"y\")"],
    );
    check(
        "edit",
        r#"{"filePath":"a.c","oldString":"x"}"#,
        &["a.c malformed"],
    );
    check(
        "edit",
        r#"{"filePath":"a.c","oldString":3,"newString":"y"}"#,
        &["a.c malformed"],
    );
    check("grep", r#"{"path":"a.c","oldString":3,"newString":2}"#, &[]);
    check(
        "replace",
        r#"{"file_path":"a.c","old_string":"x","new_string":"y","expected_replacements":2}"#,
        &["a.c malformed"],
    );
}

#[test]
fn several_edits() {
    check(
        "multi_edit",
        r#"{"filepath":"a.c","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":"","replace_all":true}]}"#,
        &["a.c \"x\">\"y\" Everywhere \"z\">\"\""],
    );
    check(
        "MultiEdit",
        r#"{"file_path":"a.c","edits":[{"old_string":"","new_string":"int x;"},{"old_string":"x","new_string":"y"}]}"#,
        &["a.c Create(\"int y;\")"],
    );
    check(
        "multi_edit",
        r#"{"filepath":"a.c","edits":[]}"#,
        &["a.c malformed"],
    );
    check(
        "multi_edit",
        r#"{"filepath":"a.c","edits":[{"old_string":"x"}]}"#,
        &["a.c malformed"],
    );
}

#[test]
fn inserted_lines() {
    check(
        "editor",
        r#"{"path":"a.c","new_text":"x\n","insert_line":3}"#,
        &["a.c Insert { after_lines: 2, text: \"x\\n\" }"],
    );
    check(
        "editor",
        r#"{"path":"a.c","new_text":"x","insert_line":0}"#,
        &["a.c malformed"],
    );
    check(
        "editor",
        r#"{"path":"a.c","new_text":"x"}"#,
        &["a.c Create(\"x\")"],
    );
    check(
        "file_editor",
        r#"{"command":"insert","path":"a.c","insert_line":3,"new_str":"x"}"#,
        &["a.c Insert { after_lines: 3, text: \"x\" }"],
    );
    check(
        "file_editor",
        r#"{"command":"create","path":"a.c","file_text":"x"}"#,
        &["a.c Create(\"x\")"],
    );
    check("file_editor", r#"{"command":"view","path":"a.c"}"#, &[]);
    check(
        "file_editor",
        r#"{"command":"undo_edit","path":"a.c"}"#,
        &[],
    );
}

#[test]
fn patches_anywhere() {
    let patch = r"*** Begin Patch\n*** Add File: a.c\n+x\n*** Delete File: b.c\n*** End Patch";
    let expected = &["a.c Create(\"x\\n\")", "b.c Delete"];
    for arguments in [
        format!(r#"{{"input":"{patch}"}}"#),
        format!(r#"{{"patch":"{patch}"}}"#),
        format!(r#"{{"patchText":"{patch}\n"}}"#),
        format!(r#"{{"command":"apply_patch <<'EOF'\n{patch}\nEOF\n"}}"#),
        format!(r#"{{"command":["bash","-lc","apply_patch <<\"EOF\"\n{patch}\nEOF\n"]}}"#),
        format!(r#"{{"cmd":["apply_patch","{patch}"]}}"#),
    ] {
        check("any", &arguments, expected);
    }
    check("shell", r#"{"command":"grep '*** Begin Patch' a.c"}"#, &[]);
}

#[test]
fn diffs_of_one_file() {
    check(
        "replace_in_file",
        r#"{"path":"a.c","diff":"------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"}"#,
        &["a.c \"x\\n\">\"y\\n\""],
    );
    check(
        "apply_diff",
        r#"{"path":"a.c","diff":"@@ -1 +1 @@\n-x\n+y\n"}"#,
        &["a.c \"x\\n\">\"y\\n\""],
    );
}

#[test]
fn other_calls() {
    for arguments in [
        r#"{"path":"a.c"}"#,
        r#"{"path":"a.c","pattern":"x"}"#,
        r#"{"content":"x"}"#,
        r#"{"path":"","content":"x"}"#,
        r#"{"command":"ls"}"#,
        "[]",
        "3",
        "",
        "{",
        "\u{0}",
    ] {
        check("any", arguments, &[]);
    }
}

#[test]
fn truncated_arguments() {
    check(
        "write",
        r#"{"path":"a.c","content":"int"#,
        &["a.c malformed"],
    );
    check(
        "edit",
        r#"{"old_string":"x", "file_path" : "a\u002ec" , "new_string""#,
        &["a.c malformed"],
    );
    check("read", r#"{"path":"a.c","#, &[]);
    check("write", r#"{"content":"x","path":"a."#, &[]);
}

/// The path is known as soon as its argument is complete.
#[test]
fn early_path() {
    let check = |arguments: &str, expected: Option<&str>| {
        assert_eq!(path_begun(arguments).as_deref(), expected, "{arguments}");
    };
    check(r#"{"filePath":"src/a.c","oldString":"x"#, Some("src/a.c"));
    check(r#"{"filePath": "src/a.c""#, Some("src/a.c"));
    check(r#"{"filePath":"src/a"#, None);
    check(r#"{"content":"int x;"#, None);
}
