//! External truth (spec §15): disk against what is held true.

use super::check;

const PASTE: &str = "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Fine.
";

#[track_caller]
fn after_paste(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PASTE}{story}"));
}

#[test]
fn edited_by_hand() {
    after_paste(
        "stale__edited_by_hand",
        "A file edited by hand: the changed function is withheld with a notice, the other is still shown.",
        "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | What do a() and b() do?
        ",
    );
}

#[test]
fn a_class_is_not_stale_for_its_method() {
    check(
        "stale__a_class_is_not_stale_for_its_method",
        "Disk has changed one method: an edit of the other one counts, and one of the class itself, or of the changed one, doesn't.",
        r#"
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         return x + self.base
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | @tslp accept src/a.py
        model
        | Noted.
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         pass
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | Let `A.other` in src/a.py take two off.
        model
        | ```python
        | def other(self, x):
        |     return x - self.base - 2
        | ```
        user
        | Let `A.other` in src/a.py take three off, from a base of 2.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |     base = 1
        | =======
        |     base = 2
        | >>>>>>> REPLACE
        | <<<<<<< SEARCH
        |         return x - self.base - 2
        | =======
        |         return x - self.base - 3
        | >>>>>>> REPLACE
        | ```
        user
        | Let `A.one` in src/a.py add two.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         return x + self.base
        | =======
        |         return x + self.base + 2
        | >>>>>>> REPLACE
        | ```
        "#,
    );
}

/// A class that is true, and to which the user then adds a method in the editor.
const GROWN_CLASS: &str = "
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         y = x + self.base
        |         return y
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | @tslp accept src/a.py
        model
        | Noted.
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         y = x + self.base
        |         return y
        |
        |     def reset(self):
        |         self.base = 1
        |
        |     def other(self, x):
        |         return x - self.base
";

#[test]
fn a_method_is_added_by_hand() {
    check(
        "stale__a_method_is_added_by_hand",
        "The user adds a method in the editor: the model's edits of the others count one after the other, while the class stays STALE until \
         the user accepts what it holds.",
        &format!(
            "{GROWN_CLASS}
        user
        | Let `A.other` in src/a.py take two off.
        model
        | ```python
        | def other(self, x):
        |     return x - self.base - 2
        | ```
        user
        | Let `A.one` in src/a.py add two.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         y = x + self.base
        | =======
        |         y = x + self.base + 2
        | >>>>>>> REPLACE
        | ```
        user
        | @tslp accept src/a.py
        | What does class `A` do?
        "
        ),
    );
}

#[test]
fn a_method_of_a_grown_class_is_pasted() {
    check(
        "stale__a_method_of_a_grown_class_is_pasted",
        "The user's method counts, and so does the model's next edit of another one: neither is the user's word for what the class holds besides.",
        &format!(
            "{GROWN_CLASS}
        user
        | src/a.py
        | ```python
        |     def one(self, x):
        |         return x + self.base + 5
        | ```
        | Fine?
        model
        | Yes.
        user
        | Let `A.other` in src/a.py take two off.
        model
        | ```python
        | def other(self, x):
        |     return x - self.base - 2
        | ```
        "
        ),
    );
}

#[test]
fn a_method_of_a_grown_class_is_accepted() {
    check(
        "stale__a_method_of_a_grown_class_is_accepted",
        "The user accepts one method of a class that holds another change, too: the class isn't left with the old one.",
        &format!(
            "{GROWN_CLASS}
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         return x + self.base + 5
        |
        |     def reset(self):
        |         self.base = 1
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | @tslp accept src/a.py::A.one
        model
        | Noted.
        user
        | Let `A.other` in src/a.py take two off.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         return x - self.base
        | =======
        |         return x - self.base - 2
        | >>>>>>> REPLACE
        | ```
        "
        ),
    );
}

#[test]
fn a_method_is_confirmed() {
    check(
        "stale__a_method_is_confirmed",
        "A method that the user confirms takes its class and its file with it: the next edit of another one doesn't take it back.",
        "
        disk src/a.py
        | class A:
        |     def one(self, x):
        |         if x < 0:
        |             raise ValueError(x)
        |         return x + 1
        |
        |     def other(self, x):
        |         return x - 1
        user
        | @tslp accept src/a.py
        model
        | Noted.
        user
        | Look at `A.one` in src/a.py.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         if x < 0:
        |             raise ValueError(x)
        | =======
        | >>>>>>> REPLACE
        | ```
        user
        | @tslp confirm src/a.py::A.one
        model
        | Noted.
        user
        | Let `A.other` in src/a.py take two off.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         return x - 1
        | =======
        |         return x - 2
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn one_of_two_methods_is_confirmed() {
    check(
        "stale__one_of_two_methods_is_confirmed",
        "The class that holds both changes isn't true, nor is the one before: it is around its methods, and an edit of the other one counts.",
        "
        disk src/a.py
        | class A:
        |     def one(self, x):
        |         if x < 0:
        |             raise ValueError(x)
        |         return x + 1
        |
        |     def other(self, x):
        |         if x > 0:
        |             raise ValueError(x)
        |         return x - 1
        user
        | @tslp accept src/a.py
        model
        | Noted.
        user
        | Look at `A.one` and `A.other` in src/a.py.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         if x < 0:
        |             raise ValueError(x)
        | =======
        | >>>>>>> REPLACE
        | <<<<<<< SEARCH
        |         if x > 0:
        |             raise ValueError(x)
        | =======
        | >>>>>>> REPLACE
        | ```
        user
        | @tslp confirm src/a.py::A.one
        model
        | Noted.
        user
        | Let `A.other` in src/a.py take two off.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |         return x - 1
        | =======
        |         return x - 2
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn a_class_is_accepted_with_its_methods() {
    check(
        "stale__a_class_is_accepted_with_its_methods",
        "Who accepts a class accepts what is inside of it: a changed method, a new one, and that one is gone.",
        &format!(
            "{GROWN_CLASS}
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         return x + self.base + 5
        |
        |     def reset(self):
        |         self.base = 1
        user
        | @tslp accept src/a.py::A
        "
        ),
    );
}

#[test]
fn a_file_that_is_stale_shows_its_true_parts() {
    check(
        "stale__a_file_that_is_stale_shows_its_true_parts",
        "A prompt names a file, or a class, to which something was added by hand: what of it is true is shown, and each method once.",
        &format!(
            "{GROWN_CLASS}
        new
        user
        | What is in src/a.py?
        new
        user
        | What does class `A` do?
        "
        ),
    );
}

#[test]
fn a_class_that_goes_takes_no_method_along() {
    check(
        "stale__a_class_that_goes_takes_no_method_along",
        "A class that the conversation shows became STALE: it goes out of the older message, and what of it is true is shown anew.",
        "
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         y = x + self.base
        |         return y
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | @tslp accept src/a.py
        model
        | Noted.
        user
        | What does class `A` do?
        model
        | It adds.
        disk src/a.py
        | class A:
        |     base = 1
        |
        |     def one(self, x):
        |         y = x + self.base + 5
        |         return y
        |
        |     def other(self, x):
        |         return x - self.base
        user
        | And what does `A.other` do?
        ",
    );
}

#[test]
fn an_edit_begins_above_a_function() {
    after_paste(
        "stale__an_edit_begins_above_a_function",
        "The file stepped down for a function: an edit that begins above another one is one of what the file was, with its true functions.",
        "
        disk src/a.c
        | #define N 9
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | Change b()
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        | =======
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 5; }
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn model_is_blocked() {
    after_paste(
        "stale__model_is_blocked",
        "While a function is STALE the model's new version of it is refused, and pasting the file resolves it.",
        "
        full what disk holds, and the STALE table
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | This is my file:
        | ```c:src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { return x + 107; }
        | ```
        user
        | Show me a()
        ",
    );
}

#[test]
fn changed_while_the_model_thinks() {
    after_paste(
        "stale__changed_while_the_model_thinks",
        "The file changes between the prompt and the reply: the look before promotion catches it.",
        "
        user
        | Change a()
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | Show me a()
        ",
    );
}

#[test]
fn editor_applies_the_change() {
    after_paste(
        "stale__editor_applies_the_change",
        "After a promotion disk still holds the older version: the new one is shown all the same, as it is once the editor has written it.",
        "
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | Show me a()
        model
        | I can't.
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | I saved it. Show me a()
        ",
    );
}

#[test]
fn paste_over_a_different_disk() {
    check(
        "stale__paste_over_a_different_disk",
        "The user pastes what disk doesn't hold: acknowledged, so shown; when disk changes again it is STALE.",
        "
        disk src/a.c
        | int a(int x) { return x + 1; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | Show me a()
        model
        | Fine.
        disk src/a.c
        | int a(int x) { return x + 3; }
        user
        | Show me a()
        ",
    );
}

#[test]
fn user_decides_by_pasting_the_truth() {
    after_paste(
        "stale__user_decides_by_pasting_the_truth",
        "Over a STALE entity the user pastes the very version that the State Map holds: that is a decision.",
        "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | What does a() do?
        model
        | I can't see it.
        user
        | Mine is right:
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | So what does a() do?
        ",
    );
}

#[test]
fn applied_by_hand_then_pasted() {
    after_paste(
        "stale__applied_by_hand_then_pasted",
        "A refused proposal that the user applied by hand and then pastes with the rest of the file becomes true.",
        "
        user
        | Shorten a()
        model
        | ```c:src/a.c
        | int a(int x) { return x; }
        | // ... rest unchanged ...
        | ```
        disk src/a.c
        | int a(int x) { return x; }
        | int b(int x) { return x + 2; }
        user
        | I applied it. The file is now
        | ```c:src/a.c
        | int a(int x) { return x; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | Show me a()
        ",
    );
}

#[test]
fn missing_file() {
    after_paste(
        "stale__missing_file",
        "A deleted file isn't STALE, and its code isn't shown as if it existed: it is told as deleted.",
        "
        gone src/a.c
        user
        | What does a() do?
        ",
    );
}

#[test]
fn symbol_gone_from_disk() {
    after_paste(
        "stale__symbol_gone_from_disk",
        "The file is there but no longer defines the function: STALE.",
        "
        disk src/a.c
        | int b(int x) { return x + 2; }
        user
        | What does a() do?
        ",
    );
}

#[test]
fn unreadable_file() {
    after_paste(
        "stale__unreadable_file",
        "A file that can't be read is never fine: nothing of it is shown, the model is blocked, the notice says why.",
        "
        locked src/a.c
        user
        | What does a() do?
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | And now?
        ",
    );
}

#[test]
fn edits_elsewhere_and_indentation() {
    after_paste(
        "stale__edits_elsewhere_and_indentation",
        "CRLF line ends, another indentation and a new function elsewhere in the file make nothing STALE.",
        "
        disk src/a.c
        | #include <new.h>
        |   int a(int x) { return x + 1; }\r
        | int c(int x) { return x + 3; }\r
        | int b(int x) { return x + 2; }\r
        user
        | What do a() and b() do?
        ",
    );
}

#[test]
fn base_never_shown() {
    check(
        "stale__base_never_shown",
        "Disk defines a function that was never shown here: the model can't replace what it has never seen.",
        "
        disk src/a.c
        | int hidden(int x) { return x * 31 + 7; }
        user
        | Write `hidden` in src/a.c
        model
        | ```c:src/a.c
        | int hidden(int x) { return x; }
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn old_copies_in_recent_context() {
    after_paste(
        "stale__old_copies_in_recent_context",
        "Code that has become STALE is withheld from older messages too, the user's block as well as the model's copy.",
        "
        user
        | Repeat a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | What does a() do?
        ",
    );
}

#[test]
fn second_repeated_is_stale() {
    check(
        "stale__second_repeated_is_stale",
        "A block repeats two functions, the second of which disk contradicts: it was written on STALE code.",
        "
        user
        | ```c:src/a.c
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | int three(int x) { return x + 3; }
        | ```
        | Make three() long.
        disk src/a.c
        | int one(int x) { return x + 1; }
        | int two(int x) { return x - 2; }
        | int three(int x) { return x + 3; }
        model
        | ```c:src/a.c
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | long three(long x) { return x + 3; }
        | ```
        ",
    );
}

#[test]
fn a_body_that_lost_its_indentation() {
    check(
        "stale__a_body_that_lost_its_indentation",
        "A Python function is the whole file, and its body loses its indentation on disk: the file is STALE as the function is, and no code is shown.",
        "
        disk g.py
        | def g():
        |     return 1
        user
        | ```python:g.py
        | def g():
        |     return 1
        | ```
        model
        | Fine.
        disk g.py
        | def g():
        | return 1
        user
        | Look at g.py
        ",
    );
}

#[test]
fn a_blank_behind_a_line_end_that_was_escaped() {
    check(
        "stale__a_blank_behind_a_line_end_that_was_escaped",
        "A blank behind a macro's backslash cuts the macro off, and is no difference of the file as a whole: the file isn't shown where its macro is withheld.",
        "
        policy reading off
        disk a.h
        | int a;
        | #define M(x) \\
        |   f(x)
        user
        | ```c:a.h
        | int a;
        | #define M(x) \\
        |   f(x)
        | ```
        model
        | Fine.
        disk a.h
        | int a;
        | #define M(x) \\\x20
        |   f(x)
        user
        | Look at a.h
        model
        | Fine.
        user
        | Look at a.h alone
        ",
    );
}

#[test]
fn an_include_that_nobody_acknowledged() {
    after_paste(
        "stale__an_include_that_nobody_acknowledged",
        "Disk gets an include. The function is the same, so it is shown and the model's change of it is judged as usual; the file as a whole steps down for it.",
        "
        disk src/a.c
        | #include <assert.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | Change `a()`
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | And now?
        model
        | You must decide.
        user
        | @tslp accept src/a.c
        | Change `a()` then
        model
        | ```c:src/a.c
        | int a(int x) { return x + 8; }
        | ```
        user
        | And now?
        ",
    );
}

#[test]
fn a_new_function_for_a_stale_file() {
    after_paste(
        "stale__a_new_function_for_a_stale_file",
        "The model brings a new function into a file of which another function is STALE: it is judged as usual; pasting the file without it removes it.",
        "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | Add a function c to src/a.c
        model
        | ```c:src/a.c
        | int c(int x) { return x * x; }
        | ```
        user
        | Then as an edit
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int b(int x) { return x + 2; }
        | =======
        | int b(int x) { return x + 2; }
        | int c(int x) { return x * x; }
        | >>>>>>> REPLACE
        | ```
        user
        | This is my file:
        | ```c:src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | ```c:src/a.c
        | int c(int x) { return x * x; }
        | ```
        ",
    );
}

#[test]
fn confirmed_over_a_stale_file() {
    after_paste(
        "stale__confirmed_over_a_stale_file",
        "The user confirms the model's change of a function over what disk holds: an explicit act, which the file as a whole gives way to.",
        "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 2; }
        user
        | Change `a()`
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        user
        | @tslp confirm src/a.c::a
        | What is in src/a.c?
        ",
    );
}

#[test]
fn a_part_pasted_into_a_stale_file() {
    after_paste(
        "stale__a_part_pasted_into_a_stale_file",
        "The user pastes a part of a STALE file: true at once, and the file as a whole gives way to its parts.",
        "
        disk src/a.c
        | #include <assert.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 3; }
        | ```
        | What is in src/a.c?
        ",
    );
}

#[test]
fn functions_of_a_file_that_is_not_known_whole() {
    check(
        "stale__functions_of_a_file_that_is_not_known_whole",
        "Only functions are known of the file: one that disk holds as it is true can be changed, whatever else changed there.",
        "
        disk src/a.c
        | #include <stdio.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | int c(int x) { return x + 3; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Fine.
        disk src/a.c
        | #include <assert.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 200; }
        | int c(int x) { return x + 3; }
        user
        | Change `a()`
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
        ",
    );
}

#[test]
fn editor_writes_the_whole_file() {
    after_paste(
        "stale__editor_writes_the_whole_file",
        "The model's whole file is true and not written yet; its next part replaces that part, before the editor has written anything and after.",
        "
        user
        | Change `a()` in src/a.c
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        | ```
        user
        | Now change `b()`
        model
        | ```c:src/a.c
        | int b(int x) { return x + 8; }
        | ```
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | I saved it. Change `b()`
        model
        | ```c:src/a.c
        | int b(int x) { return x + 9; }
        | ```
        user
        | What is in src/a.c?
        ",
    );
}

#[test]
fn withheld_from_the_window() {
    check(
        "stale__withheld_from_the_window",
        "Code that is STALE and withheld from the recent turns is named in a notice, though the prompt doesn't name it.",
        "
        policy history window
        disk src/a.c
        | int a(int x) { return x + 1; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        disk src/a.c
        | int a(int x) { return x - 1; }
        user
        | Write a poem.
        ",
    );
}

#[test]
fn an_older_version_in_a_listing() {
    check(
        "stale__an_older_version_in_a_listing",
        "A function that disk has otherwise goes out of the listing that showed it; what stands beside it stays.",
        "
        disk src/a.py
        | def a(x):
        |     return x + 1
        |
        | def b(x):
        |     return x + 2
        user
        | ```python:src/a.py
        | def a(x):
        |     return x + 1
        |
        | def b(x):
        |     return x + 2
        | ```
        | What does `b` do?
        model
        | It adds two.
        disk src/a.py
        | def a(x):
        |     return x + 100
        |
        | def b(x):
        |     return x + 2
        user
        | Let `a` refuse what is less than zero.
        model
        | ```python
        | def a(x):
        |     if x < 0:
        |         raise ValueError(x)
        |     return x + 1
        | ```
        ",
    );
}
