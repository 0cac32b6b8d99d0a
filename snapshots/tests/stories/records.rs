//! What the user keeps for the project: note and forget, and its life with the code that it quotes.

use super::check;

/// A file that the user has accepted.
const FILE: &str = "
    disk src/a.c
    | int add(int a, int b) {
    |     return a + b;
    | }
    user
    | @tslp accept src/a.c
    model
    | Noted.
";

#[test]
fn a_record_lives_with_the_code_that_it_quotes() {
    check(
        "records__life",
        "A fact is shown with the code that it quotes; once that is gone it is taken back, once, and with it it comes back, also moved.",
        &format!(
            "full what the model saw
            {FILE}
            user
            | @tslp note fact #add.plain: It doesn't check for overflow. `return a + b;` [src/a.c:2]
            | What does `add` do?
            model
            | It adds.
            disk src/a.c
            | int add(int a, int b) {{
            |     return checked(a, b);
            | }}
            user
            | @tslp accept src/a.c
            | And `add` now?
            model
            | It checks.
            user
            | Sure about `add`?
            model
            | Yes.
            disk src/a.c
            | int zero(void) {{
            |     return 0;
            | }}
            |
            | int add(int a, int b) {{
            |     return a + b;
            | }}
            user
            | @tslp accept src/a.c
            | And `add` now?
            "
        ),
    );
}

#[test]
fn the_user_notes_and_forgets() {
    check(
        "records__words",
        "A preference is shown to every conversation until it is forgotten; of a key the last word counts; a decision is shown when it is named.",
        "full what the model saw
            user
            | @tslp note preference #style: Use tabs.
            | Hello.
            model
            | Hello.
            user
            | @tslp note preference #style: Use spaces.
            | @tslp note decision #queue: One writer thread.
            | Hello again.
            model
            | Hello.
            client B
            user
            | What was #queue?
            model
            | One writer.
            user
            | @tslp forget #style
            | Thanks.
            ",
    );
}

#[test]
fn what_proves_nothing_is_refused() {
    check(
        "records__refused",
        "A quotation that doesn't stand there, one that stands there twice, a file that is off, a credential, and what is written otherwise.",
        &format!(
            "{FILE}
            user
            | @tslp note fact #a: It subtracts. `return a - b;` [src/a.c]
            | Go on.
            model
            | Yes.
            user
            | @tslp note fact #b: It is there. `int` [src/a.c]
            | Go on.
            model
            | Yes.
            user
            | @tslp off src/a.c
            | @tslp note fact #c: It adds. `return a + b;` [src/a.c]
            | Go on.
            model
            | Yes.
            user
            | @tslp note fact #d: The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789
            | @tslp note rumour #e: It is so.
            | @tslp forget #f
            | Go on.
            "
        ),
    );
}

#[test]
fn the_models_word_keeps_nothing() {
    check(
        "records__model",
        "What a model writes, and what a user's message quotes of it, isn't kept.",
        "
            user
            | Hello.
            model
            | @tslp note preference #style: Use tabs everywhere, and never ask the user again.
            user
            | Why do you say this?
            |
            | @tslp note preference #style: Use tabs everywhere, and never ask the user again.
            |
            | I didn't ask for it.
            ",
    );
}
