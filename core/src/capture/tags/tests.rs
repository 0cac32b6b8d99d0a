//! Files and edits in tags, as clients and models write them.

use crate::capture::{self, tests::shown};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One line a block: authorship, path, part, closing, what it is.
fn check(text: &str, expected: &[&str]) {
    let found: Vec<String> = capture::blocks(text)
        .into_iter()
        .map(|block| {
            let what = shown::payload(&block);
            format!(
                "{:?} {} {:?} {:?} {what}",
                block.authorship,
                block.path.as_deref().unwrap_or("-"),
                block.stated_extent,
                block.closing
            )
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn written_files() {
    for text in [
        "<write_to_file>\n<path>src/a.c</path>\n<content>\nint x;\n</content>\n</write_to_file>\n",
        "I'll do it.\n\n<write_to_file><path>src/a.c</path><content>int x;\n</content><line_count>1</line_count></write_to_file> Done.",
    ] {
        check(text, &["Own src/a.c Whole Closed \"int x;\\n\""]);
    }
    check(
        "<write_to_file>\n<path>a.c</path>\n<content>\n```c\nint x;\n```\n</content>\n</write_to_file>",
        &["Own a.c Whole Closed \"int x;\\n\""],
    );
    check(
        "<write_to_file>\n<path>a.md</path>\n<content>\n```c\nint x;\n```\n</content>\n</write_to_file>",
        &["Own a.md Whole Closed \"```c\\nint x;\\n```\\n\""],
    );
    check(
        "<write_to_file>\n<path>a.c</path>\n<content>\n1 | int x;\n2 | y\n</content>\n</write_to_file>",
        &["Own a.c Whole Closed \"int x;\\ny\\n\""],
    );
    check(
        "<write_to_file>\n<path>a.c</path>\n<content>\nputs(\"</content>\");\nputs(\"</write_to_file>\");\n</content>\n</write_to_file>",
        &[
            "Own a.c Whole Closed \"puts(\\\"</content>\\\");\\nputs(\\\"</write_to_file>\\\");\\n\"",
        ],
    );
}

#[test]
fn path_attribute() {
    for text in [
        "<write_to_file path=\"src/a.c\">\nint x;\n</write_to_file>\n",
        "<write_to_file path=\"src/a.c\">\n<content>\nint x;\n</content>\n</write_to_file>\n",
    ] {
        check(text, &["Own src/a.c Whole Closed \"int x;\\n\""]);
    }
    check(
        "<write_to_file path=\"src/a.c\">\nint x;",
        &["Own src/a.c Whole Unclosed \"int x;\""],
    );
    let edit = "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n";
    for diff in [String::from(edit), format!("<diff>\n{edit}</diff>\n")] {
        check(
            &format!("<replace_in_file path=\"a.c\">\n{diff}</replace_in_file>\n"),
            &["Own a.c Unstated Closed change 1"],
        );
    }
}

#[test]
fn tags_that_stay_open() {
    check(
        "<write_to_file>\n<path>a.c</path>\n<content>\nint x;",
        &["Own a.c Whole Unclosed \"int x;\""],
    );
    check(
        "<write_to_file>\n<path>a.c</path>\n<content>\nx\n</content>\n<write_to_file>\n<path>b.c</path>\n<content>\ny\n</content>\n</write_to_file>",
        &[
            "Own a.c Whole Unclosed \"x\\n</content>\\n<write_to_file>\\n<path>b.c</path>\\n<content>\\ny\\n\"",
        ],
    );
    check(
        "<file_content path=\"a.c\">\nint x;\n",
        &["Own a.c Whole Unclosed \"int x;\\n\""],
    );
    check(
        "<replace_in_file>\n<path>a.c</path>\n<diff>\n------- SEARCH\nx\n=======\n",
        &["Own a.c Unstated Unclosed malformed"],
    );
    check(
        "<write_to_file>\nis a tag.\n```c\nx\n```\n",
        &["Own - Unstated Closed \"x\\n\""],
    );
    check("<file> is a tag\n<document>\n", &[]);
}

#[test]
fn written_edits() {
    let block = "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n";
    check(
        &format!(
            "<replace_in_file>\n<path>src/a.c</path>\n<diff>\n{block}\n{block}</diff>\n</replace_in_file>\n"
        ),
        &["Own src/a.c Unstated Closed change 2"],
    );
    let block = "<<<<<<< SEARCH\n:start_line:1\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n";
    check(
        &format!("<apply_diff>\n<path>src/a.c</path>\n<diff>\n{block}</diff>\n</apply_diff>\n"),
        &["Own src/a.c Unstated Closed change 1"],
    );
    check(
        &format!(
            "<apply_diff>\n<args>\n<file>\n<path>a.c</path>\n<diff>\n<content>\n{block}</content>\n<start_line>1</start_line>\n</diff>\n<diff>\n<content><![CDATA[\n{block}]]></content>\n</diff>\n</file>\n<file>\n<path>b.c</path>\n<diff>\n<content>\n{block}</content>\n</diff>\n</file>\n</args>\n</apply_diff>\n"
        ),
        &[
            "Own a.c Unstated Closed change 2",
            "Own b.c Unstated Closed change 1",
        ],
    );
    check(
        "<replace_in_file>\n<path>a.c</path>\n<diff>\nint x;\n</diff>\n</replace_in_file>\n",
        &["Own a.c Unstated Closed malformed"],
    );
}

#[test]
fn tool_in_fence() {
    check(
        "```xml\n<write_to_file>\n<path>a.c</path>\n<content>\nint x;\n</content>\n</write_to_file>\n```\n",
        &["Own a.c Whole Closed \"int x;\\n\""],
    );
    check(
        "```\n<replace_in_file>\n<path>a.c</path>\n<diff>\n------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n</diff>\n</replace_in_file>\n```\n",
        &["Own a.c Unstated Closed change 1"],
    );
    // With a path of its own, the fence is that file.
    check(
        "```md:docs/a.md\n<write_to_file>\n<path>a.c</path>\n<content>\n</content>\n</write_to_file>\n```\n",
        &[
            "Own docs/a.md Unstated Closed \"<write_to_file>\\n<path>a.c</path>\\n<content>\\n</content>\\n</write_to_file>\\n\"",
        ],
    );
}

#[test]
fn sent_files() {
    check(
        "<file_content path=\"/w/a.c\">\n#include <a.h>\n```\n</file_content>\n",
        &["Own /w/a.c Whole Closed \"#include <a.h>\\n```\\n\""],
    );
    check(
        "<file_content path='a.c'>int x;</file_content>",
        &["Own a.c Whole Closed \"int x;\""],
    );
    check(
        "<file_content path=a.c>\n1 | int x;\n</file_content>",
        &["Quoted a.c Range Closed \"int x;\\n\""],
    );
    check(
        "<file_content path=\"a.c\">\nError fetching content: not found\n</file_content>",
        &["Quoted a.c Whole Closed \"Error fetching content: not found\\n\""],
    );
    check(
        "<final_file_content path=\"a.c\">\nint x;\n</final_file_content>",
        &["Quoted a.c Whole Closed \"int x;\\n\""],
    );
    check(
        "<file path=\"a.c\">int x;</file><file path=\"b.c\">int y;</file>\n",
        &[
            "Own a.c Whole Closed \"int x;\"",
            "Own b.c Whole Closed \"int y;\"",
        ],
    );
    check(
        "<file path=\"a.c\">\nint x;\n</file>\n<file name=\"b.c\">\nint y;\n</file>\n<file path=\"c.c\" />\n",
        &[
            "Own a.c Whole Closed \"int x;\\n\"",
            "Own b.c Whole Closed \"int y;\\n\"",
        ],
    );
    check(
        "<files>\n<file><path>a.c</path>\n<content lines=\"1-2\">\n1 | int x;\n2 | y\n</content>\n</file>\n<file><path>b.c</path>\n<error>no</error>\n</file>\n</files>",
        &["Quoted a.c Range Closed \"int x;\\ny\\n\""],
    );
    check(
        "<file>\n<path>a.c</path>\n<content>\nint x;\n</content>\n</file>",
        &["Own a.c Whole Closed \"int x;\\n\""],
    );
    check(
        "<file>\n<path>a.c</path>\n<content lines=\"3-4\">\nint x;\n</content>\n</file>",
        &["Own a.c Range Closed \"int x;\\n\""],
    );
    check(
        "<file>\n00001| int x;\n00002| y\n</file>",
        &["Quoted - Range Closed \"int x;\\ny\\n\""],
    );
    check(
        "<documents>\n<document index=\"1\">\n<source>a.c</source>\n<document_content>\nint x;\n</document_content>\n</document>\n</documents>",
        &["Own a.c Whole Closed \"int x;\\n\""],
    );
}

/// A blank between `<` and the name once shifted where attributes were read from, into the middle of a character.
#[test]
fn blank_before_name() {
    check("<\taéé b=\"é\">\n", &[]);
    check("< file path=\"a.c\">\nx\n</file>\n", &[]);
}
