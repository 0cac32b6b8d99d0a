//! What names a block's file: every path evidence that there is (engine: "Resolution").

use super::check;

#[test]
fn info_strings() {
    check(
        "evidence__info_strings",
        "Five spellings of a path in a fence's info string, all CONFIRMED; in the last a range makes a fragment.",
        r#"
        user
        | ```c:src/a.c
        | int a(void) { return 1; }
        | ```
        | ```c src/b.c
        | int b(void) { return 2; }
        | ```
        | ```src/c.c
        | int c(void) { return 3; }
        | ```
        | ```c title="src/d.c"
        | int d(void) { return 4; }
        | ```
        | ```c src/e.c (10-12)
        | #include <e.h>
        | int e(void) { return 5; }
        | ```
        "#,
    );
}

#[test]
fn line_before() {
    check(
        "evidence__line_before",
        "A path alone on the line before the fence is evidence enough for the model, however it is decorated.",
        "
        user
        | Write two files.
        model
        | ### `src/a.c`
        |
        | ```c
        | int a(void) { return 1; }
        | ```
        | **File: src/b.c:**
        | ```c
        | int b(void) { return 2; }
        | ```
        ",
    );
}

#[test]
fn first_line_comment() {
    check(
        "evidence__first_line_comment",
        "A `filepath:` comment, or a comment that is a path alone, on the block's first line.",
        "
        user
        | Write two files.
        model
        | ```c
        | // filepath: src/a.c
        | int a(void) { return 1; }
        | ```
        | ```c
        | /* src/b.c */
        | int b(void) { return 2; }
        | ```
        ",
    );
}

#[test]
fn a_comment_that_names_the_file_is_no_part_of_a_function() {
    check(
        "evidence__a_comment_that_names_the_file",
        "A function for a known file under a comment that names it: whether the user copies that line or not, the function is the same.",
        "
        disk src/a.c
        | int clamp(int x) {
        |     if (x < 0) return 0;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int doubled = x * 2;
        |     if (doubled > 100) {
        |         doubled = 100;
        |     }
        |     return doubled;
        | }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        user
        | Let `clamp` in src/a.c return -1 below zero.
        model
        | ```c
        | // src/a.c
        | int clamp(int x) {
        |     if (x < 0) return -1;
        |     return x;
        | }
        | ```
        disk src/a.c
        | int clamp(int x) {
        |     if (x < 0) return -1;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int doubled = x * 2;
        |     if (doubled > 100) {
        |         doubled = 100;
        |     }
        |     return doubled;
        | }
        user
        | What does `clamp` in src/a.c do?
        model
        | It clamps.
        disk src/a.c
        | // src/a.c
        | int clamp(int x) {
        |     if (x < 0) return -1;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int doubled = x * 2;
        |     if (doubled > 100) {
        |         doubled = 100;
        |     }
        |     return doubled;
        | }
        user
        | And what does `twice` in src/a.c do?
        ",
    );
}

#[test]
fn sentence_before() {
    check(
        "evidence__sentence_before",
        "A path in the sentence before the fence that leads to it links the user's code and the model's.",
        "
        user
        | This is src/a.c as it stands:
        | ```c
        | int a(void) { return 1; }
        | ```
        model
        | I changed src/a.c like this:
        | ```c
        | int a(void) { return 2; }
        | ```
        user
        | What does `a` return?
        ",
    );
}

#[test]
fn two_paths_in_a_sentence() {
    check(
        "evidence__two_paths_in_a_sentence",
        "Two paths in the sentence before the fence name neither; the user is told.",
        "
        user
        | I moved this from src/a.c to src/b.c:
        | ```c
        | int a(void) { return 1; }
        | ```
        ",
    );
}

#[test]
fn absolute_path_in_the_workspace() {
    check(
        "evidence__absolute_path_in_the_workspace",
        "An absolute path inside the workspace, backslashes and `./` all come to the same relative path.",
        r"
        user
        | ```c:/work/space/src/a.c
        | int a(void) { return 1; }
        | ```
        model
        | ```c:./src/../src/a.c
        | int a(void) { return 2; }
        | ```
        user
        | ```c:src\a.c
        | int a(void) { return 3; }
        | ```
        ",
    );
}

#[test]
fn unique_base_name() {
    check(
        "evidence__unique_base_name",
        "A bare base name stands for the one tracked file that bears it; when two bear it, it is a path of its own.",
        "
        user
        | ```c:src/a.c
        | int a(void) { return 1; }
        | ```
        model
        | a.c
        | ```c
        | int a(void) { return 2; }
        | ```
        user
        | ```c:lib/a.c
        | int lib_a(void) { return 1; }
        | ```
        model
        | a.c
        | ```c
        | int a(void) { return 3; }
        | ```
        ",
    );
}

#[test]
fn several_blocks_in_one_reply() {
    check(
        "evidence__several_blocks_in_one_reply",
        "Each block of a reply stands by itself: one is promoted, one refused, one is no code of the project's.",
        "
        user
        | ```c:src/a.c
        | int a(int x) {
        |     if (x > 10) return 10;
        |     return x;
        | }
        | ```
        | ```c:src/b.c
        | int b(int x) {
        |     if (x > 20) return 20;
        |     return x;
        | }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) {
        |     if (x > 11) return 11;
        |     return x;
        | }
        | ```
        | ```c:src/b.c
        | int b(int x) {
        |     // ... existing code ...
        | }
        | ```
        | ```sh
        | make test
        | ```
        user
        | Compare `a` and `b`.
        ",
    );
}
