//! What the work is for: said by the user, told to conversations that begin.

use super::check;

#[test]
fn a_goal_is_told_to_what_begins() {
    check(
        "goals__told_to_what_begins",
        "The goal is said once; the next conversation is told it with what was asked last, once; done, and nothing is told.",
        "
        full what the model saw
        user
        | @tslp goal Make the parser fast
        | @tslp goal next: measure it
        | What is slow in it?
        model
        | The scanner.
        user
        | Make the scanner faster.
        model
        | Done.
        new
        user
        | Hello.
        model
        | Hello.
        user
        | What now?
        model
        | Measure it.
        user
        | @tslp goal done
        | Thanks.
        model
        | Welcome.
        new
        user
        | Something else.
        ",
    );
}
