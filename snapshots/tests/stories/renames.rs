//! Renames and other changes of what a name means: flagged, never guessed (spec §12).

use super::{PASTED_FILE, check};

#[track_caller]
fn after_paste(name: &str, about: &str, story: &str) {
    check(
        name,
        about,
        &format!("{PASTED_FILE}model\n| Thanks.\n{story}"),
    );
}

#[test]
fn confirmed() {
    after_paste(
        "renames__confirmed",
        "A rename is refused with both names; the user confirms it: the new name is true, the old one tombstoned.",
        "
        user
        | Tidy up clamp()
        model
        | ```c:src/a.c
        | int limit_to(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        user
        | @tslp confirm src/a.c::limit_to
        ",
    );
}

#[test]
fn whole_file() {
    after_paste(
        "renames__whole_file",
        "A whole file in which a function bears another name: the old name is preserved, the mismatch flagged.",
        "
        user
        | Tidy up src/a.c
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int limit_to(int x, int low, int high) {
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
        user
        | What about clamp()?
        ",
    );
}

#[test]
fn asked_for_by_name() {
    after_paste(
        "renames__asked_for_by_name",
        "The user asks for a new function by name: it may look like an old one.",
        "
        user
        | Write clamp_long like clamp() for long.
        model
        | ```c:src/a.c
        | long clamp_long(long x, long low, long high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        ",
    );
}

#[test]
fn lost_namespace() {
    check(
        "renames__lost_namespace",
        "A C++ function that comes back without its namespace, as it was shown, is that function and no second one.",
        "
        user
        | ```cpp:src/a.cpp
        | namespace geo {
        | int area(int w, int h) { return w * h; }
        | }
        | ```
        | Make geo::area() safe.
        model
        | ```cpp:src/a.cpp
        | int area(int w, int h) { return w < 0 || h < 0 ? 0 : w * h; }
        | ```
        ",
    );
}

#[test]
fn old_and_new_in_one_block() {
    after_paste(
        "renames__old_and_new_in_one_block",
        "The old and the new body of one function in one block: nobody can tell which is meant.",
        "
        user
        | Make twice() shorter.
        model
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        |
        | int twice(int x) {
        |     return 2 * x;
        | }
        | ```
        ",
    );
}

#[test]
fn body_replaced_by_a_todo() {
    after_paste(
        "renames__body_replaced_by_a_todo",
        "A body that did something comes back as a stub.",
        "
        user
        | Make twice() shorter.
        model
        | ```c:src/a.c
        | int twice(int x) {
        |     // TODO: double it
        | }
        | ```
        ",
    );
}

#[test]
fn prototype_only() {
    after_paste(
        "renames__prototype_only",
        "A prototype is no definition.",
        "
        user
        | Make twice() shorter.
        model
        | ```c:src/a.c
        | int twice(int x);
        | ```
        user
        | And twice() now?
        ",
    );
}

#[test]
fn removed_by_the_user() {
    after_paste(
        "renames__removed_by_the_user",
        "What the user left out of a whole file doesn't come back because the model repeats it.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        | Tidy this up.
        model
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        ",
    );
}

#[test]
fn wrong_path() {
    after_paste(
        "renames__wrong_path",
        "A known function comes back under another path: it isn't taken for a second one, unless the user names the path.",
        "
        user
        | Make twice() shorter.
        model
        | ```c:lib/b.c
        | int twice(int x) {
        |     long sum = x + x;
        |     return sum;
        | }
        | ```
        user
        | Yes, copy twice() into lib/b.c
        model
        | ```c:lib/b.c
        | int twice(int x) {
        |     long sum = x + x;
        |     return sum;
        | }
        | ```
        ",
    );
}

#[test]
fn asked_of_an_edit() {
    after_paste(
        "renames__asked_of_an_edit",
        "The user asks to rename one function and to delete another, and edits spell it out: the old names are tombstoned, the new one is true, and nobody is told to undo it.",
        "
        user
        | Rename clamp() to limit_to.
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int clamp(int x, int low, int high) {
        | =======
        | int limit_to(int x, int low, int high) {
        | >>>>>>> REPLACE
        | ```
        user
        | Please delete the function twice() as well.
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | =======
        | >>>>>>> REPLACE
        | ```
        user
        | What is in src/a.c now?
        ",
    );
}

#[test]
fn asked_and_something_is_lost_on_the_way() {
    after_paste(
        "renames__asked_and_something_is_lost_on_the_way",
        "The user asks for a rename, and a check, then the whole body is gone under the new name: held against the old one, and refused; then for a move, and a stub arrives.",
        "
        user
        | Rename clamp() to limit_to.
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        | =======
        | int limit_to(int x, int low, int high) {
        | >>>>>>> REPLACE
        | ```
        user
        | Rename clamp() to limit_to, please.
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | =======
        | int limit_to(int x, int low, int high) {
        |     return 0;
        | }
        | >>>>>>> REPLACE
        | ```
        user
        | Move clamp() to src/clamp.c.
        model
        | ```c:src/clamp.c
        | int clamp(int x, int low, int high) {
        |     abort();
        | }
        | ```
        user
        | And now?
        ",
    );
}

#[test]
fn not_asked_of_an_edit() {
    after_paste(
        "renames__not_asked_of_an_edit",
        "An edit takes a function away that the prompt doesn't ask to remove: refused, whatever else the prompt removes.",
        "
        user
        | Remove the check from clamp(), but don't delete twice().
        model
        | src/a.c
        | ```
        | <<<<<<< SEARCH
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | =======
        | >>>>>>> REPLACE
        | ```
        user
        | And now?
        ",
    );
}

#[test]
fn asked_of_a_file() {
    after_paste(
        "renames__asked_of_a_file",
        "The user asks to delete a file, and the model's patch deletes it: all of it is tombstoned.",
        "
        user
        | Delete src/a.c, please.
        model
        | ```
        | *** Begin Patch
        | *** Delete File: src/a.c
        | *** End Patch
        | ```
        user
        | What about clamp()?
        ",
    );
}

#[test]
fn asked_in_a_chat() {
    check(
        "renames__asked_in_a_chat",
        "A rename that the user asks for comes back as a listing: the old name goes, and there is nothing left to confirm.",
        "
        disk src/m.rs
        | fn add(left: u32, right: u32) -> u32 {
        |     left + right
        | }
        touch
        user
        | @tslp accept src/m.rs
        | Rename `add` in src/m.rs to `plus`.
        model
        | ```rust:src/m.rs
        | fn plus(left: u32, right: u32) -> u32 {
        |     left + right
        | }
        | ```
        disk src/m.rs
        | fn plus(left: u32, right: u32) -> u32 {
        |     left + right
        | }
        user
        | Is `add` still there?
        model
        | It is called `plus` now.
        user
        | @tslp confirm src/m.rs::plus
        ",
    );
}

#[test]
fn asked_and_left_out_of_a_listing() {
    check(
        "renames__asked_and_left_out_of_a_listing",
        "A function that the user asks to remove is left out of the class as it is listed, or of the file: it goes. What else a listing lacks stays.",
        "
        disk src/m.py
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        |
        |     def empty(self):
        |         with self.lock:
        |             return not self.items
        |
        | def helper(x):
        |     y = x + 1
        |     return y * 2
        user
        | @tslp accept src/m.py
        model
        | Noted.
        user
        | What is in src/m.py?
        model
        | A cart.
        user
        | Improve `Cart`.
        model
        | ```python
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        | ```
        user
        | Remove `Cart.empty`.
        model
        | ```python
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        | ```
        user
        | Delete the helper function in src/m.py.
        model
        | src/m.py
        | ```python
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        | ```
        ",
    );
}

#[test]
fn asked_of_an_agent_that_writes_the_file() {
    check(
        "renames__asked_of_an_agent_that_writes_the_file",
        "An agent writes the whole file with the name that the user asked for: the old name is tombstoned. Nobody asked for the next one, so that is refused.",
        r#"
        disk src/m.rs
        | fn add(left: u32, right: u32) -> u32 {
        |     left + right
        | }
        touch
        tools
        user
        | @tslp accept src/m.rs
        | `add` in src/m.rs should be called `plus`.
        call write
        | {"path": "src/m.rs", "content": "fn plus(left: u32, right: u32) -> u32 {\n    left + right\n}\n"}
        model
        | I write it.
        disk src/m.rs
        | fn plus(left: u32, right: u32) -> u32 {
        |     left + right
        | }
        context tool
        | Written.
        again
        model
        | Done.
        user
        | Document `plus`.
        call write
        | {"path": "src/m.rs", "content": "/// Adds.\nfn sum(left: u32, right: u32) -> u32 {\n    left + right\n}\n"}
        model
        | I write it.
        "#,
    );
}
