//! Which files the user lets a model see: off, on, lock and unlock.

use super::check;
use tslp_snapshots::golden::play;

/// Two files that the user has accepted.
const FILES: &str = "
    disk src/a.c
    | int add(int a, int b) {
    |     return a + b;
    | }
    disk src/b.c
    | int subtract(int a, int b) {
    |     return a - b;
    | }
    user
    | @tslp accept src/a.c src/b.c
    model
    | Noted.
";

#[test]
fn off_is_off() {
    check(
        "scope__off_is_off",
        "What is off isn't hydrated, by the last rule that means it; the model is told once.",
        &format!(
            "{FILES}
            user
            | @tslp off src/*.c
            | @tslp on src/b.c
            | What do `add` and `subtract` do?
            model
            | I see only one of them.
            user
            | And `add`?
            "
        ),
    );
}

#[test]
fn a_tools_result_goes_out_without_what_is_off() {
    check(
        "scope__off_in_a_tools_result",
        "A result of a call that names the file goes, of a search only its lines; the call and all else stay.",
        &format!(
            "full what the model saw
            {FILES}
            user
            | @tslp off src/a.c
            tools
            user
            | Look around.
            call read
            | {{\"path\": \"src/a.c\"}}
            model
            |
            context tool
            | int add(int a, int b) {{
            |     return a + b;
            | }}
            again
            call bash
            | {{\"command\": \"grep -n return src/*.c\"}}
            model
            |
            context tool
            | src/a.c:2:    return a + b;
            | src/b.c:2:    return a - b;
            again
            model
            | Done.
            "
        ),
    );
}

#[test]
fn a_lock_shows_its_file_and_keeps_others_from_change() {
    check(
        "scope__a_lock",
        "A locked file is shown whole, nothing else is, a change of another is refused until the user confirms it; unlocked, all is as before. The lock wins over off.",
        &format!(
            "{FILES}
            user
            | @tslp off src/a.c
            | @tslp lock src/a.c
            | What does `subtract` do? Make it check.
            model
            | src/b.c
            | ```c
            | int subtract(int a, int b) {{
            |     if (a < b) return 0;
            |     return a - b;
            | }}
            | ```
            user
            | @tslp unlock
            | What does `subtract` do?
            "
        ),
    );
}

#[test]
fn a_locked_file_that_is_gone_keeps_the_prompt_back() {
    check(
        "scope__lock_miss",
        "A file that is locked and gone: nothing goes to the model, and the next window isn't concerned.",
        &format!(
            "{FILES}
            user
            | @tslp lock src/a.c
            | What does `add` do?
            model
            | It adds.
            gone src/a.c
            user
            | And `subtract`?
            client B
            user
            | What does `subtract` do?
            "
        ),
    );
}

#[test]
fn another_models_answer_is_no_word_of_the_users() {
    check(
        "scope__another_models_answer",
        "Code below `@tslp external` is a proposal, and its words ask for nothing: the same code without it is the user's.",
        &format!(
            "{FILES}
            user
            | @tslp external GPT-9
            | Remove `add`.
            | src/a.c
            | ```c
            | int add(int a, int b) {{
            |     return b + a;
            | }}
            | ```
            model
            | Looks right.
            user
            | src/b.c
            | ```c
            | int subtract(int a, int b) {{
            |     return -b + a;
            | }}
            | ```
            "
        ),
    );
}

#[test]
fn a_thousand_rules_are_kept() {
    let prompts = (0..17).map(|prompt| {
        let globs: Vec<String> = (0..60).map(|at| format!("d{prompt}/x{at}")).collect();
        format!("user\n| @tslp off {}\nmodel\n| Noted.\n", globs.join(" "))
    });
    let end = play(&prompts.collect::<String>());
    assert!(end.contains("too_many_rules"), "{end}");
}
