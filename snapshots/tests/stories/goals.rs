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
fn another_goal_has_nothing_of_the_one_before() {
    check(
        "goals__another",
        "A second goal takes the place of the first, with all that was said of that.",
        "
        full what the model saw
        user
        | @tslp goal Make the parser fast
        | @tslp goal next: measure it
        | Go on, please.
        model
        | Yes.
        new
        user
        | @tslp goal Write the manual
        | Which chapters does it have?
        model
        | Three.
        new
        user
        | Hello.
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

#[test]
fn an_agent_goes_on_where_the_last_one_left_a_failed_run() {
    check(
        "goals__after_a_failed_run",
        "An agent's last test run failed, its change was refused, and its client is over: the next agent is told both, and how the build ended.",
        "
        full what the model saw
        disk src/scan.c
        | int scan(void) {
        |     return one() + two();
        | }
        tools
        user
        | @tslp accept src/scan.c
        | Make the scanner faster, please.
        call bash
        | {\"command\": \"make\"}
        model
        | I build it.
        context tool
        | Exit code: 0
        again
        call bash
        | {\"command\": \"make check\"}
        model
        | And I test it.
        context tool
        | make: *** [check] Error 1
        again
        model
        | ```c:src/scan.c
        | int scan(void) {
        |     return 0;
        | }
        | ```
        command signal ended
        new
        user
        | Go on.
        model
        | I go on.
        new
        user
        | What is a monad?
        ",
    );
}
