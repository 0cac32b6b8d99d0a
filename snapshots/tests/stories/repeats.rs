//! A message that was said before, word for word, where a regenerated reply looks like another conversation.

use super::check;

/// The user pastes `add` in a conversation's first message, and the model changes it.
const BEGUN: &str = "
    disk src/a.c
    | int add(int a, int b) { return a + b; }
    user
    | src/a.c
    | ```c
    | int add(int a, int b) { return a + b; }
    | ```
    | Improve `add`.
    model
    | src/a.c
    | ```c
    | int add(int a, int b) { int sum = a; return sum + b; }
    | ```
";

/// The editor has written what the model gave.
const WRITTEN: &str = "
    disk src/a.c
    | int add(int a, int b) { int sum = a; return sum + b; }
";

/// The client asks for another reply to the first message.
const ANOTHER: &str = "
    back 1
    again
";

/// Another conversation begins with the same words.
const ANEW: &str = "
    new
    user
    | src/a.c
    | ```c
    | int add(int a, int b) { return a + b; }
    | ```
    | Improve `add`.
";

#[test]
fn first_message_whose_answer_was_written() {
    check(
        "repeats__first_message_whose_answer_was_written",
        "Another reply to the first message: what it pastes is older than what is true and on disk, and isn't taken again.",
        &format!("{BEGUN}{WRITTEN}{ANOTHER}"),
    );
}

#[test]
fn another_conversation_with_the_same_words() {
    check(
        "repeats__another_conversation_with_the_same_words",
        "The same words begin another conversation: nothing tells it from another reply that is asked for, and the file says what is newer.",
        &format!(
            "{BEGUN}{WRITTEN}{ANEW}
            model
            | What is to be improved?
            user
            | Make `add` faster.
            "
        ),
    );
}

#[test]
fn other_words() {
    check(
        "repeats__other_words",
        "One more character makes it a message of its own: the paste wins, whatever disk holds.",
        &format!(
            "{BEGUN}{WRITTEN}
            new
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`!
            "
        ),
    );
}

#[test]
fn file_put_back() {
    check(
        "repeats__file_put_back",
        "The user put the old file back before they said the same again: disk holds the paste, and it is true.",
        &format!(
            "{BEGUN}{WRITTEN}
            disk src/a.c
            | int add(int a, int b) {{ return a + b; }}
            {ANEW}"
        ),
    );
}

#[test]
fn answer_that_nobody_wrote() {
    check(
        "repeats__answer_that_nobody_wrote",
        "Disk still holds the paste: another reply is asked for, and the first one's code goes.",
        &format!("{BEGUN}{ANOTHER}"),
    );
}

#[test]
fn file_edited_by_hand() {
    check(
        "repeats__file_edited_by_hand",
        "The user edits the file and asks for another reply: the old paste is no decision about what they wrote.",
        &format!(
            "{BEGUN}
            disk src/a.c
            | int add(int a, int b) {{ return b + a; }}
            {ANOTHER}"
        ),
    );
}

#[test]
fn file_edited_by_hand_before_anything_else_was_true() {
    check(
        "repeats__file_edited_by_hand_before_anything_else_was_true",
        "The paste is what is true, disk was edited since: it stays STALE, and nobody has acknowledged the edit.",
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Explain `add`.
        model
        | It adds.
        disk src/a.c
        | int add(int a, int b) { return b + a; }
        back 1
        again
        ",
    );
}

#[test]
fn file_that_never_held_it() {
    check(
        "repeats__file_that_never_held_it",
        "Disk holds what it held when the paste was said first: the user decides as they did then.",
        &format!(
            "
            disk src/a.c
            | int add(int a, int b) {{ return 0; }}
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int sum = a; return sum + b; }}
            | ```
            {ANOTHER}"
        ),
    );
}

#[test]
fn without_a_file() {
    check(
        "repeats__without_a_file",
        "There is no file: the words are all that the user has.",
        "
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = a; return sum + b; }
        | ```
        back 1
        again
        ",
    );
}

#[test]
fn unreadable_file() {
    check(
        "repeats__unreadable_file",
        "Nobody knows what the file holds by now: the newer code stays true, withheld as it is.",
        &format!("{BEGUN}{WRITTEN}locked src/a.c\n{ANOTHER}"),
    );
}

#[test]
fn file_between_two_versions() {
    check(
        "repeats__file_between_two_versions",
        "Disk holds a version that came after the words, and the model's last one isn't written: the first paste is older than both.",
        &format!(
            "{BEGUN}{WRITTEN}
            user
            | Improve `add` once more.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ long sum = a; sum += b; return (int)sum; }}
            | ```
            back 3
            again
            "
        ),
    );
}

/// A whole file of two functions and an include; the model changes one of them, and the editor writes it.
const WHOLE: &str = "
    disk src/a.c
    | #include <stdio.h>
    |
    | int add(int a, int b) { return a + b; }
    |
    | int sub(int a, int b) { return a - b; }
    user
    | src/a.c
    | ```c
    | #include <stdio.h>
    |
    | int add(int a, int b) { return a + b; }
    |
    | int sub(int a, int b) { return a - b; }
    | ```
    | Improve `add`.
    model
    | src/a.c
    | ```c
    | int add(int a, int b) { int sum = a; return sum + b; }
    | ```
    disk src/a.c
    | #include <stdio.h>
    |
    | int add(int a, int b) { int sum = a; return sum + b; }
    |
    | int sub(int a, int b) { return a - b; }
";

#[test]
fn one_newer_function_of_several() {
    check(
        "repeats__one_newer_function_of_several",
        "Of a whole file one function is newer by now, and it alone is named.",
        &format!("{WHOLE}{ANOTHER}"),
    );
}

#[test]
fn one_function_put_back() {
    check(
        "repeats__one_function_put_back",
        "Both functions were changed, one was put back on disk: what the paste says of that one counts.",
        &format!(
            "{WHOLE}
            user
            | Now improve `sub`.
            model
            | src/a.c
            | ```c
            | int sub(int a, int b) {{ int rest = a; return rest - b; }}
            | ```
            back 3
            again
            "
        ),
    );
}

#[test]
fn whole_file_put_back() {
    check(
        "repeats__whole_file_put_back",
        "The model added a function, the user took the whole change back on disk: the file is true as it was pasted, without the new function.",
        "
        disk src/a.c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        | ```
        | Write `sub`, too.
        model
        | src/a.c
        | ```c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        | ```
        back 1
        again
        ",
    );
}

#[test]
fn function_added_since() {
    check(
        "repeats__function_added_since",
        "A function that the file has by now isn't removed because an older whole file lacks it.",
        "
        disk src/a.c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        | int mul(int a, int b) { return a * b; }
        user
        | src/a.c
        | ```c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        | int mul(int a, int b) { return a * b; }
        | ```
        | Write `sub`, too.
        model
        | src/a.c
        | ```c
        | int sub(int a, int b) { return a - b; }
        | ```
        disk src/a.c
        | #include <stdio.h>
        |
        | int add(int a, int b) { return a + b; }
        | int mul(int a, int b) { return a * b; }
        | int sub(int a, int b) { return a - b; }
        back 1
        again
        ",
    );
}

#[test]
fn function_removed_since() {
    check(
        "repeats__function_removed_since",
        "The user took a function out and disk agrees: an older paste of it doesn't bring it back.",
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        | int sub(int a, int b) { return a - b; }
        user
        | src/a.c
        | ```c
        | int sub(int a, int b) { return a - b; }
        | ```
        | Do we need `sub`?
        model
        | No.
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        back 3
        again
        ",
    );
}

#[test]
fn many_newer_functions() {
    check(
        "repeats__many_newer_functions",
        "Where more than three definitions are newer, the file is named once.",
        "
        disk src/a.c
        | int a(void) { return 1; }
        | int b(void) { return 1; }
        | int c(void) { return 1; }
        | int d(void) { return 1; }
        user
        | src/a.c
        | ```c
        | int a(void) { return 1; }
        | int b(void) { return 1; }
        | int c(void) { return 1; }
        | int d(void) { return 1; }
        | ```
        | Fine?
        model
        | Fine.
        disk src/a.c
        | int a(void) { return 2; }
        | int b(void) { return 2; }
        | int c(void) { return 2; }
        | int d(void) { return 2; }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        back 3
        again
        ",
    );
}

#[test]
fn paste_and_accept() {
    check(
        "repeats__paste_and_accept",
        "Said again, the directive acts as it ever does and the paste beside it doesn't: what the user takes is what disk holds.",
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        disk src/b.c
        | int twice(int a) { return 2 * a; }
        user
        | @tslp accept src/b.c
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = a; return sum + b; }
        | ```
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        disk src/b.c
        | int twice(int a) { return a + a; }
        back 1
        again
        ",
    );
}

#[test]
fn turn_long_ago() {
    check(
        "repeats__turn_long_ago",
        "A later turn is asked for again after more exchanges than are remembered: its words are known, and its conversation went on.",
        "
        user
        | Hello
        model
        | Hi.
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = a; return sum + b; }
        | ```
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        user
        | One.
        model
        | 1
        user
        | Two.
        model
        | 2
        user
        | Three.
        model
        | 3
        user
        | Four.
        model
        | 4
        user
        | Five.
        model
        | 5
        back 11
        again
        ",
    );
}

#[test]
fn same_paste_at_the_end() {
    check(
        "repeats__same_paste_at_the_end",
        "Behind a conversation's last reply the same words are new: the user wants the old code back and has said so.",
        &format!(
            "{BEGUN}{WRITTEN}
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`.
            "
        ),
    );
}

#[test]
fn asking_for_a_change_in_the_same_words() {
    check(
        "repeats__asking_for_a_change_in_the_same_words",
        "In profile strict a proposal waits: a client of a named session that asks for another reply to the first message confirms nothing.",
        "
        policy profile strict
        session work
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | Noted.
        new
        user
        | Change `add` so that it is faster.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = b; return sum + a; }
        | ```
        back 1
        again
        ",
    );
}

#[test]
fn reply_of_another_conversation_sent_as_it_stands() {
    check(
        "repeats__reply_of_another_conversation_sent_as_it_stands",
        "What a model said in another conversation is sent as it stands, and the file holds otherwise: it stays a proposal.",
        "
        policy profile strict
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Change `add`.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = b; return sum + a; }
        | ```
        new
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = b; return sum + a; }
        | ```
        ",
    );
}

#[test]
fn edit_that_would_apply_twice() {
    check(
        "repeats__edit_that_would_apply_twice",
        "The user's edit is on disk. Said again it applies to its own result, and isn't made twice.",
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | Noted.
        new
        user
        | src/a.c
        | <<<<<<< SEARCH
        | int add(int a, int b) { return a + b; }
        | =======
        | int half(int a) { return a / 2; }
        | int add(int a, int b) { return a + b; }
        | >>>>>>> REPLACE
        model
        | Noted.
        disk src/a.c
        | int half(int a) { return a / 2; }
        | int add(int a, int b) { return a + b; }
        back 1
        again
        ",
    );
}

#[test]
fn history_that_nobody_knows() {
    check(
        "repeats__history_that_nobody_knows",
        "A client that changes replies before it sends them back: another reply to the same words is asked for in what looks like another conversation.",
        "
        context
        | Hello
        context assistant
        | Hi (shortened).
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { int sum = a; return sum + b; }
        | ```
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        new
        context
        | Hello
        context assistant
        | Hi.
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        ",
    );
}

#[test]
fn newer_paste_that_nobody_wrote() {
    check(
        "repeats__newer_paste_that_nobody_wrote",
        "The user has pasted something newer since, which no file holds yet: the first words don't undo it.",
        &format!(
            "
            disk src/a.c
            | int add(int a, int b) {{ return 0; }}
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`.
            model
            | Noted.
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return b + a; }}
            | ```
            | That is better.
            {ANEW}"
        ),
    );
}

#[test]
fn version_on_disk_that_was_accepted_since() {
    check(
        "repeats__version_on_disk_that_was_accepted_since",
        "Disk holds what the user accepted after the words, and the model's change of that waits to be written: the words don't undo it.",
        &format!(
            "
            disk src/a.c
            | int add(int a, int b) {{ return b + a; }}
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`.
            model
            | Noted.
            user
            | @tslp accept src/a.c::add
            | No, keep mine.
            model
            | Noted.
            new
            user
            | Improve `add`.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int sum = a; return sum + b; }}
            | ```
            {ANEW}"
        ),
    );
}

#[test]
fn file_that_is_away() {
    check(
        "repeats__file_that_is_away",
        "The user has accepted something newer since, and the file is away just now: the first words don't undo it.",
        &format!(
            "{BEGUN}
            disk src/a.c
            | int add(int a, int b) {{ return b + a; }}
            user
            | @tslp accept src/a.c
            | That is mine.
            model
            | Noted.
            gone src/a.c
            {ANEW}"
        ),
    );
}

#[test]
fn history_from_elsewhere() {
    check(
        "repeats__history_from_elsewhere",
        "A conversation that began without the proxy: its older paste tells nothing of what is true and on disk.",
        "
        disk src/a.c
        | int add(int a, int b) { return b + a; }
        user
        | @tslp accept src/a.c
        | Hello.
        model
        | Hello.
        new
        context
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Explain `add`.
        context assistant
        | It adds.
        user
        | Improve `add`.
        ",
    );
}

#[test]
fn summary_of_a_conversation() {
    check(
        "repeats__summary_of_a_conversation",
        "A client asks for a summary: what it quotes of the conversation is no paste.",
        &format!(
            "{BEGUN}{WRITTEN}
            new
            user
            | # USER
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Improve `add`.
            | # ASSISTANT
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int unsaid = a; return unsaid + b; }}
            | ```
            "
        ),
    );
}

#[test]
fn a_subtasks_result() {
    check(
        "repeats__a_subtasks_result",
        "A client hands a subtask's reply back in a message of the user's: the refused proposal in it isn't the user's word.",
        "
        user
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        model
        | Here it is:
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     return x;
        | }
        | ```
        user
        | [new_task completed] Result:
        |
        | Here it is:
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     return x;
        | }
        | ```
        ",
    );
}
