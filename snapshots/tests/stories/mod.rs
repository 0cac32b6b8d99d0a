//! Stories with their golden ends.

mod directives;

use tslp_snapshots::stage::play;

#[test]
fn paste_becomes_truth_and_a_full_update_is_promoted() {
    insta::assert_snapshot!(play(
        "
        user
        | Here is src/a.c:
        | ```c
        | int add(int a, int b) {
        |     return a + b;
        | }
        | ```
        model
        | Thanks, add() adds.
        new
        user
        | Please make `add` safer.
        model
        | ```c:src/a.c
        | int add(int a, int b) {
        |     if (a > 100) return 0;
        |     return a + b;
        | }
        | ```
        user
        | And what does `add` do now?
        "
    ));
}
