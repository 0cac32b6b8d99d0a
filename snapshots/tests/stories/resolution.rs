//! Confidence levels (spec §4): CONFIRMED by path and parse, INFERRED by correlation, else UNRESOLVED.

use super::check;

#[test]
fn confirmed_by_what_was_shown() {
    check(
        "resolution__confirmed_by_what_was_shown",
        "A reply without a path that redefines a function of the one tracked file that the model was shown is CONFIRMED.",
        "
        user
        | ```c:src/a.c
        | int scale(int x, int factor) {
        |     return x * factor;
        | }
        | ```
        model
        | ```c
        | int scale(int x, int factor) {
        |     if (factor == 0) return 0;
        |     return x * factor;
        | }
        | ```
        user
        | What does `scale` do now?
        ",
    );
}

#[test]
fn several_candidates() {
    check(
        "resolution__several_candidates",
        "A reply without a path whose function stands in two tracked files is UNRESOLVED; the law's notice follows.",
        "
        user
        | ```c:src/a.c
        | static int helper(int x) { return x + 1; }
        | ```
        | ```c:src/b.c
        | static int helper(int x) { return x + 1; }
        | ```
        model
        | ```c
        | static int helper(int x) { return x + 2; }
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn same_name_other_code() {
    check(
        "resolution__same_name_other_code",
        "A function of a tracked name that shares few words with it isn't linked: similarity never guesses.",
        "
        user
        | ```c:src/a.c
        | int scale(int x, int factor) {
        |     int scaled = x * factor;
        |     int limit = maximum(factor, scaled);
        |     return minimum(scaled, limit);
        | }
        | ```
        model
        | ```c
        | int scale(const char *text) { return puts(text) + strlen(text); }
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn no_path_and_nothing_like_it() {
    check(
        "resolution__no_path_and_nothing_like_it",
        "Code without a path and without any tracked namesake: UNRESOLVED, and the law's notice in the next prompt only.",
        "
        user
        | Write me a function.
        model
        | ```c
        | int fresh(void) { return 1; }
        | ```
        user
        | Thanks.
        model
        | Gladly.
        user
        | And now?
        ",
    );
}

#[test]
fn no_code() {
    check(
        "resolution__no_code",
        "Plain talk, a shell block and an output block: nothing to resolve, no notice.",
        "
        user
        | How do I build it?
        model
        | Run this:
        | ```sh
        | make -j2
        | ```
        | It prints
        | ```
        | ok
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn parse_errors() {
    check(
        "resolution__parse_errors",
        "A block with a path in which every definition is broken is UNRESOLVED.",
        "
        user
        | Write src/a.c
        model
        | ```c:src/a.c
        | int a(int x) { return x +; ) }
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn one_broken_definition_of_two() {
    check(
        "resolution__one_broken_definition_of_two",
        "Of two functions one is broken: whoever applied the block would lose it, so the sound one is kept out as well.",
        "
        user
        | ```c:src/a.c
        | int one(int x) { return x + 1; }
        | int two(int x) { return x + 2; }
        | ```
        model
        | ```c:src/a.c
        | int one(int x) { return x + 10; }
        | int two(int x) { return x +; ) }
        | ```
        user
        | What do `one` and `two` do?
        ",
    );
}

#[test]
fn no_grammar() {
    check(
        "resolution__no_grammar",
        "A file that neither a grammar nor a pattern reads is true as a whole: what the user pastes where disk has none.",
        "
        user
        | ```haskell:Tool.hs
        | def f():
        |     return 1
        | ```
        model
        | Fine.
        user
        | Go on with Tool.hs
        ",
    );
}

#[test]
fn other_language() {
    check(
        "resolution__other_language",
        "Code without a path isn't linked to a file of a language that isn't kin to its own, whatever it is called.",
        "
        user
        | ```c:src/add.c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | ```python
        | def add(int, a, b): return int(a + b)
        | ```
        user
        | And now?
        ",
    );
}
