//! Edits of files of which only parts are known: pieces that the user and the model supplied (spec §12).

use super::check;

#[test]
fn one_definition_into_another() {
    check(
        "edits_of_pieces__one_definition_into_another",
        "An edit makes another known function out of one: the one would be lost, so nothing is promoted.",
        "
        user
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        user
        | ```c:src/a.c
        | int double_of(int x) {
        |     return x * 2;
        | }
        | ```
        | Tidy up twice().
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | int twice(int x) {
        | =======
        | int double_of(int x) {
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn renamed_beside_what_changed() {
    check(
        "edits_of_pieces__renamed_beside_what_changed",
        "An edit renames a function that the user's fragment held unchanged: it would be lost, so nothing is promoted.",
        "
        user
        | ```c:src/a.c
        | #include <a.h>
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        |
        | int half(int x) {
        |     return x / 2;
        | }
        | ```
        user
        | ```c:src/a.c
        | int half(int x) {
        |     return x >> 1;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        model
        | Thanks.
        new
        user
        | Tidy up.
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     return x >> 1;
        | }
        |
        | int twice(int x) {
        | =======
        |     return x >> 1;
        | }
        |
        | int double_of(int x) {
        | >>>>>>> REPLACE
        | ```
        ",
    );
}

#[test]
fn text_that_was_true_once() {
    check(
        "edits_of_pieces__text_that_was_true_once",
        "A fragment repeated a function that changed since: an edit of the old function finds nothing that is true.",
        "
        user
        | ```c:src/a.c
        | int twice(int x) {
        |     return x + x;
        | }
        | ```
        user
        | ```c:src/a.c
        | int twice(int x) {
        |     return x + x;
        | }
        |
        | int half(int x) {
        |     return x / 2;
        | }
        | ```
        user
        | ```c:src/a.c
        | int twice(int x) {
        |     return 2 * x;
        | }
        | ```
        | Make twice() safe.
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     return x + x;
        | =======
        |     return x > 1000 ? 2000 : x + x;
        | >>>>>>> REPLACE
        | ```
        ",
    );
}
