//! Edits in every format: applied to what is authoritative exactly, or not at all (spec §12).

use super::{PASTED_FILE, check};

/// What the user says to the whole file, which is true.
const REQUEST: &str = "| Let clamp() cope with low > high.\n";

/// Two functions of a file are true, the rest is unknown.
const PARTS: &str = "
        user
        | ```c:src/a.c (10-17)
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        | Let clamp() cope with low > high.
";

#[track_caller]
fn whole(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PASTED_FILE}{REQUEST}{story}"));
}

#[track_caller]
fn parts(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PARTS}{story}"));
}

#[test]
fn search_replace() {
    whole(
        "edits__search_replace",
        "aider's SEARCH/REPLACE block, applied to the authoritative file: the whole file and the changed function are promoted.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        | =======
        | int clamp(int x, int low, int high) {
        |     if (low > high) return x;
        |     if (x < low) return low;
        | >>>>>>> REPLACE
        | ```
        user
        | Show me clamp()
        ",
    );
}

#[test]
fn search_replace_in_parts() {
    parts(
        "edits__search_replace_in_parts",
        "The same where only two functions are known: the edit is applied to the function that holds the text.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     if (x < low) return low;
        | =======
        |     if (low > high) return x;
        |     if (x < low) return low;
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn several_edits_of_one_file() {
    whole(
        "edits__several_edits_of_one_file",
        "Two edits of one file in one reply count as one: its reader applies both.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     if (x < low) return low;
        | =======
        |     if (low > high) return x;
        |     if (x < low) return low;
        | >>>>>>> REPLACE
        | ```
        | And the other function:
        |
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     int sum = x + x;
        |     return sum;
        | =======
        |     int sum = 2 * x;
        |     return sum;
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn unified_diff() {
    whole(
        "edits__unified_diff",
        "A unified diff with wrong line numbers: matched by content.",
        "
        model
        | ```diff
        | --- a/src/a.c
        | +++ b/src/a.c
        | @@ -100,4 +100,5 @@
        |  int clamp(int x, int low, int high) {
        | +    if (low > high) return x;
        |      if (x < low) return low;
        |      if (x > high) return high;
        | ```
        ",
    );
}

#[test]
fn apply_patch() {
    whole(
        "edits__apply_patch",
        "An apply_patch envelope in a tool call's argument.",
        "
        call apply_patch
        | {\"input\": \"*** Begin Patch\\n*** Update File: src/a.c\\n@@ int clamp(int x, int low, int high) {\\n+    if (low > high) return x;\\n     if (x < low) return low;\\n*** End Patch\"}
        model
        | I patch it.
        ",
    );
}

#[test]
fn tool_call() {
    whole(
        "edits__tool_call",
        "An edit tool's call: the old string is there exactly once.",
        "
        full arguments and the code that they make are in the Vault
        call edit
        | {\"filePath\": \"src/a.c\", \"oldString\": \"    if (x < low) return low;\", \"newString\": \"    if (low > high) return x;\\n    if (x < low) return low;\"}
        model
        | I edit it.
        ",
    );
}

#[test]
fn tool_call_that_writes_the_file() {
    whole(
        "edits__tool_call_that_writes_the_file",
        "A write tool's call gives the whole file; it lacks a function, so it is refused.",
        "
        call write_file
        | {\"path\": \"src/a.c\", \"content\": \"#include <a.h>\\n\\nint twice(int x) {\\n    int sum = x + x;\\n    return sum;\\n}\\n\"}
        model
        | I write it.
        ",
    );
}

#[test]
fn leaked_tool_call() {
    whole(
        "edits__leaked_tool_call",
        "A tool call that leaked into the text counts like one.",
        "
        model
        | <tool_call>
        | {\"name\": \"edit\", \"arguments\": {\"file_path\": \"src/a.c\", \"old_string\": \"    int sum = x + x;\\n    return sum;\", \"new_string\": \"    int sum = x * 2;\\n    return sum;\"}}
        | </tool_call>
        ",
    );
}

#[test]
fn xml_tools() {
    whole(
        "edits__xml_tools",
        "Cline's replace_in_file with its own SEARCH/REPLACE marks.",
        "
        model
        | <replace_in_file>
        | <path>src/a.c</path>
        | <diff>
        | ------- SEARCH
        |     int sum = x + x;
        |     return sum;
        | =======
        |     int sum = x * 2;
        |     return sum;
        | +++++++ REPLACE
        | </diff>
        | </replace_in_file>
        ",
    );
}

#[test]
fn text_not_found() {
    whole(
        "edits__text_not_found",
        "The model remembers an older text: the edit stays PROPOSED, its base unacknowledged, and the current code is shown again.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     if (x <= low) return low;
        | =======
        |     if (low > high) return x;
        | >>>>>>> REPLACE
        | ```
        user
        | Try again.
        ",
    );
}

#[test]
fn text_not_unique() {
    whole(
        "edits__text_not_unique",
        "A text that stands in two places: nobody knows which is meant.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | }
        | =======
        | } // end
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn unknown_file() {
    check(
        "edits__unknown_file",
        "An edit of a file of which nothing is known.",
        "
        user
        | Fix lib/other.c
        model
        | lib/other.c
        | ```c
        | <<<<<<< SEARCH
        | int x = 1;
        | =======
        | int x = 2;
        | >>>>>>> REPLACE
        | ```
        user
        | Again.
        ",
    );
}

#[test]
fn insert_without_the_whole_file() {
    parts(
        "edits__insert_without_the_whole_file",
        "A line number says nothing where only parts of the file are known.",
        "
        call file_editor
        | {\"command\": \"insert\", \"path\": \"src/a.c\", \"insert_line\": 1, \"new_str\": \"    if (low > high) return x;\"}
        model
        | I insert it.
        ",
    );
}

#[test]
fn insert_into_the_whole_file() {
    whole(
        "edits__insert_into_the_whole_file",
        "The same where the whole file is known.",
        "
        call file_editor
        | {\"command\": \"insert\", \"path\": \"src/a.c\", \"insert_line\": 3, \"new_str\": \"    if (low > high) return x;\"}
        model
        | I insert it.
        ",
    );
}

#[test]
fn create_over_a_known_file() {
    whole(
        "edits__create_over_a_known_file",
        "A patch that adds a file which is known already.",
        "
        model
        | *** Begin Patch
        | *** Add File: src/a.c
        | +int clamp(int x) { return x; }
        | *** End Patch
        ",
    );
}

#[test]
fn create_a_new_file() {
    whole(
        "edits__create_a_new_file",
        "A patch that adds a file which nobody knows: a new file like any other.",
        "
        model
        | *** Begin Patch
        | *** Add File: src/b.c
        | +#include <a.h>
        | +
        | +int half(int x) { return x / 2; }
        | *** End Patch
        ",
    );
}

#[test]
fn malformed() {
    whole(
        "edits__malformed",
        "A SEARCH/REPLACE block without its end can't be read.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     int sum = x + x;
        | =======
        |     int sum = x * 2;
        | ```
        ",
    );
}

#[test]
fn without_path() {
    whole(
        "edits__without_path",
        "An edit that names no file is linked to nothing.",
        "
        model
        | ```
        | <<<<<<< SEARCH
        |     int sum = x + x;
        | =======
        |     int sum = x * 2;
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn delete_a_file() {
    whole(
        "edits__delete_a_file",
        "The model can't remove a file.",
        "
        model
        | *** Begin Patch
        | *** Delete File: src/a.c
        | *** End Patch
        user
        | And src/a.c?
        ",
    );
}

#[test]
fn move_a_file() {
    whole(
        "edits__move_a_file",
        "The model can't give a file another path.",
        "
        model
        | *** Begin Patch
        | *** Update File: src/a.c
        | *** Move to: src/b.c
        | @@
        | -    int sum = x + x;
        | +    int sum = x * 2;
        | *** End Patch
        ",
    );
}

#[test]
fn drops_a_function() {
    whole(
        "edits__drops_a_function",
        "An edit that takes a function away loses a symbol like any other.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | =======
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn lazy_edit() {
    whole(
        "edits__lazy_edit",
        "A placeholder that an edit brings in is one, too.",
        "
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     if (x < low) return low;
        |     if (x > high) return high;
        | =======
        |     if (low > high) return x;
        |     // ... existing code ...
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn stale_base() {
    whole(
        "edits__stale_base",
        "The edit fits what is authoritative, but disk has diverged: no base for a promotion.",
        "
        disk src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     return x < low ? low : x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     if (x < low) return low;
        | =======
        |     if (low > high) return x;
        |     if (x < low) return low;
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn pasted_by_the_user() {
    whole(
        "edits__pasted_by_the_user",
        "The user pastes a diff: the write-head's word, applied to what is true.",
        "
        model
        | Fine.
        user
        | ```diff
        | --- a/src/a.c
        | +++ b/src/a.c
        | @@ -9,4 +9,3 @@
        |  int twice(int x) {
        | -    int sum = x + x;
        | -    return sum;
        | +    return 2 * x;
        |  }
        | ```
        | I have changed this.
        ",
    );
}

#[test]
fn outdated_in_the_history() {
    whole(
        "edits__outdated_in_the_history",
        "An applied edit in the client's history is withheld once what it made is no longer true.",
        "
        tools
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     int sum = x + x;
        |     return sum;
        | =======
        |     int sum = 2 * x;
        |     return sum;
        | >>>>>>> REPLACE
        | ```
        user
        | Still there?
        model
        | Yes.
        user
        | ```c:src/a.c
        | int twice(int x) { return x << 1; }
        | ```
        | I wrote it myself.
        model
        | Good.
        user
        | And now?
        ",
    );
}

#[test]
fn pasted_over_stale_code() {
    whole(
        "edits__pasted_over_stale_code",
        "The user's diff of code that disk contradicts: it says nothing of the rest, so it isn't the user's word on it.",
        "
        model
        | Fine.
        disk src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     return x < low ? low : x;
        | }
        |
        | int twice(int x) {
        |     return x * 2;
        | }
        user
        | ```diff
        | --- a/src/a.c
        | +++ b/src/a.c
        | @@ -9,4 +9,3 @@
        |  int twice(int x) {
        | -    int sum = x + x;
        | -    return sum;
        | +    return 2 * x;
        |  }
        | ```
        ",
    );
}

#[test]
fn a_diff_that_makes_a_file() {
    check(
        "edits__a_diff_that_makes_a_file",
        "A file that a diff makes out of nothing is code of its own language, not of the fence's, which names the format.",
        "
        user
        | Write a test for `half`.
        model
        | ```diff
        | --- /dev/null
        | +++ tests/half.py
        | @@ ... @@
        | +import shop
        | +
        | +def test_half():
        | +    assert shop.half(2) == 1
        | ```
        ",
    );
}
