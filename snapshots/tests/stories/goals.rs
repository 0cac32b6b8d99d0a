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

#[test]
fn an_agent_goes_on_where_the_last_one_broke_off() {
    check(
        "goals__after_a_crash",
        "An agent's client is gone in the middle of a reply: the next agent's conversation is told once, a plain chat isn't.",
        "
        full what the model saw
        tools
        user
        | Make the scanner faster, please.
        model gone
        | I will
        new
        user
        | Hello.
        model
        | Hello.
        user
        | What now?
        model
        | I go on.
        new
        user
        | Something else entirely.
        ",
    );
}
