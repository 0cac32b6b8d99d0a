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
        "An agent's last test run failed and its change was refused: the next agent is told both at once, and how the build ended.",
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

#[test]
fn a_chat_goes_on_with_what_broke_off_if_it_is_about_the_same_file() {
    check(
        "goals__chat_after_a_crash",
        "A chat without tools broke off: one about something else is told nothing, the next one about the same file is told, once.",
        "
        disk src/scan.c
        | int scan(void) {
        |     return one() + two();
        | }
        user
        | @tslp accept src/scan.c
        | Make scan in src/scan.c faster, please.
        model gone
        | I will
        new
        user
        | What is a monad?
        model
        | A wrapper.
        new
        user
        | What is left to do in src/scan.c?
        model
        | Nothing.
        new
        user
        | What does src/scan.c do?
        ",
    );
}

#[test]
fn the_hypotheses_of_a_goal_end_with_it() {
    check(
        "goals__hypotheses",
        "A hypothesis and a decision are noted for a goal: when it is done the first is taken back, the second stays; one noted without a goal isn't touched.",
        "
        user
        | @tslp note hypothesis #ci.flaky: Nameservers are slow. ttl 3d
        | @tslp goal Make the parser fast
        | @tslp note hypothesis #parser.slow: The scanner copies. ttl 3d
        | @tslp note decision #parser.one: One pass.
        | What of #parser.slow, #parser.one and #ci.flaky?
        model
        | We will see.
        user
        | @tslp goal done
        | And of #parser.slow, #parser.one and #ci.flaky now?
        ",
    );
}
