//! What the user's word does to what is true, where it is incomplete, late, or about what isn't there.

use super::authors::check;

const KNOWN: &str = "
    user
    | ```c:src/a.c
    | int add(int a, int b) { return a + b; }
    | int sub(int a, int b) { return a - b; }
    | ```
    model
    | Noted.
";

/// The user's newer code of a file, which doesn't parse.
const BROKEN: &str = "
    user
    | ```c:src/a.c
    | int add(int a, int b, int c) { return a + (b + ; }
    | ```
    model
    | I see.
    user
    | What does `add` do, and `sub`?
";

#[test]
fn code_that_a_broken_paste_contradicts_is_withheld() {
    check(
        &format!("{KNOWN}{BROKEN}"),
        &[
            "\nsrc/a.c::add contradicted",
            "is withheld until the user pastes all of it",
            "return a - b",
        ],
        &["\n| int add(int a, int b) { return a + b; }"],
    );
}

#[test]
fn a_complete_paste_or_a_directive_settles_it() {
    for (word, shown) in [
        (
            "| ```c:src/a.c\n| int add(int a, int b, int c) { return a + b + c; }\n| ```",
            "\nsrc/a.c::add v3",
        ),
        ("| @tslp reject src/a.c::add", "\nsrc/a.c::add v1"),
        ("| @tslp reject src/a.c", "\nsrc/a.c::add v1"),
    ] {
        let story = format!(
            "{KNOWN}{BROKEN}\nmodel\n| Hm.\nuser\n{word}\nmodel\n| Yes.\nuser\n| And `add` now?\n"
        );
        check(&story, &[shown], &["\nsrc/a.c::add contradicted"]);
    }
}

#[test]
fn one_overload_of_a_pattern_language() {
    check(
        "
        user
        | ```kotlin:src/A.kt
        | fun add(a: Int): Int {
        |     return a
        | }
        |
        | fun mul(a: Int): Int {
        |     return a
        | }
        | ```
        model
        | Noted.
        user
        | ```kotlin:src/A.kt
        | fun add(a: Int, b: Int): Int {
        |     return a + b
        | }
        |
        | fun add(a: Long): Long {
        |     return a
        | }
        | ```
        model
        | I see.
        user
        | What does `add` do?
        ",
        &["\nsrc/A.kt::add contradicted"],
        &[],
    );
}
