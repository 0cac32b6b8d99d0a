//! Whole file or fragment: what a block leaves out is removed only where the block is the whole file.

use super::check;

#[test]
fn pasted_fragment() {
    check(
        "extent__pasted_fragment",
        "The user pastes one function of a file of two: a fragment, the other function stays.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(void) { return 1; }
        | int two(void) { return 2; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | int one(void) { return 11; }
        | ```
        ",
    );
}

#[test]
fn pasted_whole_file() {
    check(
        "extent__pasted_whole_file",
        "With its include line the paste is the whole file: both functions and the file itself become true.",
        "
        full the code of a whole file
        user
        | ```c:src/a.c
        | #include <a.h>
        |
        | int one(void) { return 1; }
        |
        | int two(void) { return 2; }
        | ```
        model
        | Fine.
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn disk_tells_that_it_is_whole() {
    check(
        "extent__disk_tells_that_it_is_whole",
        "A paste without a preamble that defines all that the file on disk defines is the whole file.",
        "
        disk src/a.c
        | int one(void) { return 1; }
        | int two(void) { return 2; }
        user
        | ```c:src/a.c
        | int one(void) { return 1; }
        | int two(void) { return 22; }
        | ```
        ",
    );
}

#[test]
fn disk_tells_that_it_is_a_part() {
    check(
        "extent__disk_tells_that_it_is_a_part",
        "A paste with an include line that has only one of the four functions on disk is a fragment all the same.",
        "
        disk src/a.c
        | #include <a.h>
        | int one(void) { return 1; }
        | int two(void) { return 2; }
        | int three(void) { return 3; }
        | int four(void) { return 4; }
        user
        | ```c:src/a.c
        | int one(void) { return 1; }
        | int two(void) { return 2; }
        | int three(void) { return 3; }
        | int four(void) { return 4; }
        | ```
        model
        | Fine.
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(void) { return 11; }
        | ```
        ",
    );
}

#[test]
fn a_part_promoted_is_put_into_the_whole() {
    check(
        "extent__a_part_promoted_is_put_into_the_whole",
        "When the model changes one function by itself, the file with that function in it is true as a whole.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(void) { return 1; }
        | int two(void) { return 2; }
        | ```
        model
        | ```c:src/a.c
        | int one(void) { return 11; }
        | ```
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn a_class_of_a_file() {
    check(
        "extent__a_class_of_a_file",
        "The model gives one class with all its methods: a part of the file, however many names it defines.",
        "
        user
        | ```python:src/item.py
        | import json
        |
        | class Item:
        |     def price(self):
        |         return self.net * 1.2
        |
        |     def name(self):
        |         return self.title
        |
        | def load(path):
        |     return json.load(open(path))
        | ```
        | Let `Item.price` round.
        model
        | ```python:src/item.py
        | class Item:
        |     def price(self):
        |         return round(self.net * 1.2, 2)
        |
        |     def name(self):
        |         return self.title
        | ```
        ",
    );
}
