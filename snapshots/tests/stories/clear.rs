//! A conversation's context cleared: what goes to the model afterwards.

use super::check;

#[test]
fn what_came_before_is_left_out_and_the_work_is_told_in_its_place() {
    check(
        "clear__leaves_older_messages_out",
        "Two exchanges, cleared with the third prompt: the model sees neither of them then nor later, and where the work stands once.",
        "
        full what the model saw
        context system
        | Be brief.
        user
        | @tslp goal Make the parser fast
        | Make the scanner faster.
        model
        | ```c:src/scan.c
        | int scan(void) {
        |     return 1;
        | }
        | ```
        user
        | And the printer?
        model
        | It is fast.
        user
        | @tslp clear
        | Now the lexer.
        model
        | It is slow.
        user
        | Why?
        ",
    );
}

#[test]
fn an_agents_calls_and_results_go_together() {
    check(
        "clear__parts_no_call_from_its_result",
        "Cleared beside a tool's result: the turn that it belongs to goes on whole, what came before it is left out.",
        "
        full what the model saw
        tools
        user
        | Hello.
        model
        | Hello.
        user
        | What is in it?
        model
        | I look.
        call read
        | {\"path\": \"a.txt\"}
        context tool
        | One.
        user
        | @tslp clear
        | And then stop.
        model
        | One.
        user
        | Thanks.
        ",
    );
}

#[test]
fn in_a_window_older_turns_are_left_out_too() {
    check(
        "clear__empties_the_window",
        "With the window in the place of older messages, a clear empties it; what comes after is in it again.",
        "
        policy history window
        full what the model saw
        user
        | What is slow?
        model
        | The scanner.
        user
        | @tslp clear
        | And the printer?
        model
        | It is fast.
        user
        | Why?
        ",
    );
}

#[test]
fn decisions_without_evidence_keep_a_clear_back() {
    check(
        "clear__needs_evidence",
        "One decision lacks a quotation: the clear is refused with the list. Marked as an assumption it passes; or by force.",
        "
        full what the model saw
        user
        | @tslp note decision #auth.grace: Fifteen minutes.
        | Fine?
        model
        | Yes.
        user
        | @tslp clear
        | Go on.
        model
        | Yes.
        user
        | @tslp note decision #auth.grace: Fifteen minutes. [ASSUMPTION]
        | @tslp clear
        | Go on.
        model
        | Yes.
        user
        | @tslp note decision #auth.skew: Thirty seconds.
        | @tslp clear force
        | What now?
        ",
    );
}

#[test]
fn a_decision_that_keeps_a_clear_back_is_listed_with_what_it_lacks() {
    check(
        "clear__lacks",
        "Of two decisions with a quotation the file of one is off, and the code of the other has changed.",
        "
        full what the model saw
        disk src/a.c
        | int one(void) { return 1; }
        disk src/b.c
        | int two(void) { return 2; }
        user
        | @tslp accept src/a.c
        | @tslp accept src/b.c
        | @tslp note decision #one: It is one. `return 1;` [src/a.c:1]
        | @tslp note decision #two: It is two. `return 2;` [src/b.c:1]
        | Fine?
        model
        | Yes.
        disk src/b.c
        | int two(void) { return 3; }
        user
        | @tslp off src/a.c
        | @tslp accept src/b.c
        | @tslp clear
        | Go on.
        ",
    );
}

#[test]
fn a_turn_that_is_written_anew_is_cleared_only_by_its_own_words() {
    check(
        "clear__of_forks",
        "The clearing prompt is asked for anew: it clears again. Written anew without the words, it doesn't.",
        "
        full what the model saw
        user
        | One?
        model
        | First.
        user
        | @tslp clear
        | Two?
        model
        | Second.
        back 1
        again
        model
        | Another.
        back 2
        user
        | Two, please?
        ",
    );
}
