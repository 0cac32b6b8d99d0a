//! What an authoritative update of a whole file leaves out (spec §9.2).

use super::check;

#[test]
fn dropped_by_the_user() {
    check(
        "tombstones__dropped_by_the_user",
        "The user pastes the whole file without a function: it is tombstoned and no longer hydrated.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | int three(int x) { return x + 3; }
        | ```
        model
        | Fine.
        user
        | I removed it:
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | What did three() do? And two()?
        ",
    );
}

#[test]
fn pasted_again() {
    check(
        "tombstones__pasted_again",
        "A tombstoned function that the user pastes again lives again.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | int two(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn model_brings_it_back() {
    check(
        "tombstones__model_brings_it_back",
        "The model writes a function again that the user has just removed: it stays removed.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int two(int x) { return x + 2; }
        | ```
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn expiry() {
    let talk = |turns: u32| -> String {
        (0..turns)
            .map(|turn| format!("user\n| Turn {turn}.\nmodel\n| Yes.\n"))
            .collect()
    };
    let removed = "
        policy history client
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 1; }
        | ```
        model
        | Fine.
    ";
    let brought_back = "user\n| What does `one` do?\nmodel\n| ```c:src/a.c\n| int two(int x) { return x + 2; }\n| ```\n";
    check(
        "tombstones__kept_for_ten_episodes",
        "Ten episodes after the removal the tombstone is still there.",
        &format!("{removed}{}", talk(10)),
    );
    check(
        "tombstones__gone_after_ten_episodes",
        "One episode later it is gone; the Vault still holds the bytes.",
        &format!("{removed}{}", talk(11)),
    );
    check(
        "tombstones__kept_for_as_many_episodes_as_are_set",
        "Two episodes are set: it is gone after the third, and the model can write the function anew.",
        &format!("policy tombstones 2\n{removed}{}{brought_back}", talk(3)),
    );
    check(
        "tombstones__still_there_within_what_is_set",
        "Two episodes are set: in the second the model can't bring it back.",
        &format!("policy tombstones 2\n{removed}{}{brought_back}", talk(1)),
    );
}

#[test]
fn parts_only() {
    check(
        "tombstones__parts_only",
        "A file known only by fragments: a whole paste that lacks one of them removes it.",
        "
        full the tombstones
        user
        | ```c:src/a.c
        | int one(int x) { return x + 1; }
        | ```
        | ```c:src/a.c
        | int two(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) { return x + 10; }
        | ```
        ",
    );
}

#[test]
fn a_method_that_is_most_of_its_class() {
    check(
        "tombstones__a_method_that_is_most_of_its_class",
        "What is left of a class isn't held against the method that the user wants gone.",
        "
        disk src/a.py
        | class Stock:
        |     def total(self, items):
        |         total = 0
        |         for item in items:
        |             total += item.price * item.count
        |         return total
        |
        |     def count(self, items):
        |         return len(items)
        user
        | @tslp accept src/a.py
        model
        | Noted.
        user
        | Delete `total` from src/a.py, nobody calls it.
        model
        | src/a.py
        | ```
        | <<<<<<< SEARCH
        |     def total(self, items):
        |         total = 0
        |         for item in items:
        |             total += item.price * item.count
        |         return total
        |
        |     def count(self, items):
        | =======
        |     def count(self, items):
        | >>>>>>> REPLACE
        | ```
        ",
    );
}
