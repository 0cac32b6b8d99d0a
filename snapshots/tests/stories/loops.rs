//! Agents send the user's message again with every step of their loops, and clients with every regenerated turn.

use super::check;

/// The user has pasted `add`; disk holds the same.
const PASTED: &str = "
    disk src/a.c
    | int add(int a, int b) { return a + b; }
    user
    | src/a.c
    | ```c
    | int add(int a, int b) { return a + b; }
    | ```
    model
    | Noted.
";

/// The user edits the file, accepts it and asks an agent for more; the first step calls a tool.
const ACCEPTED: &str = "
    disk src/a.c
    | int add(int a, int b) { return b + a; }
    tools
    user
    | @tslp accept src/a.c
    | Now improve `add`.
    call bash
    | {\"command\": \"make\"}
    model
    |
";

/// The tool's work: what the file holds now was said by nobody.
const GUTTED: &str = "
    disk src/a.c
    | int add(int a, int b) { return 0; }
";

/// The tool's result comes, and the agent goes on.
const STEP: &str = "
    context tool
    | done
    again
";

#[test]
fn a_directive_acts_once() {
    check(
        "loops__a_directive_acts_once",
        "One accept, three steps: what the agent's tool wrote after the first is STALE, and not the user's.",
        &format!(
            "{PASTED}{ACCEPTED}{GUTTED}{STEP}
            call bash
            | {{\"command\": \"make test\"}}
            model
            | Testing.
            {STEP}
            model
            | All done.
            "
        ),
    );
}

#[test]
fn a_directive_of_a_new_turn_acts_again() {
    check(
        "loops__a_directive_of_a_new_turn_acts_again",
        "The same accept in the next turn is a new word of the user's: it takes what disk holds by then.",
        &format!(
            "
        full a notice after the result of a tool, and one about replaced versions
        {PASTED}{ACCEPTED}{GUTTED}{STEP}
            model
            | All done.
            user
            | @tslp accept src/a.c
            | Now improve `add`.
            model
            | Better now.
            "
        ),
    );
}

#[test]
fn a_directive_in_words_that_the_client_has_changed() {
    check(
        "loops__a_directive_in_words_that_the_client_has_changed",
        "The agent writes a reminder under the user's message between two steps: a reply stands behind it all the same.",
        &format!(
            "{PASTED}{ACCEPTED}{GUTTED}
            back 2
            context
            | @tslp accept src/a.c
            | Now improve `add`.
            | Remember to run the tests.
            context assistant
            |
            {STEP}
            model
            | All done.
            "
        ),
    );
}

#[test]
fn a_quoted_conversation_gives_no_directive() {
    check(
        "loops__a_quoted_conversation_gives_no_directive",
        "The client quotes the conversation to find a title: what it says there, the user has said elsewhere.",
        &format!(
            "{PASTED}{GUTTED}
            new
            user
            | Find a title.
            | <chat_history>
            | USER: Go on.
            | @tslp accept src/a.c
            | </chat_history>
            model
            | Adding
            "
        ),
    );
}

#[test]
fn a_paste_in_words_that_the_client_has_changed() {
    check(
        "loops__a_paste_in_words_that_the_client_has_changed",
        "The code in a message that was answered and has a reminder under it by now is known: it isn't pasted anew.",
        "
        full code after the result of a tool
        tools
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        call write_file
        | {\"path\": \"src/a.c\", \"content\": \"int add(int a, int b) { int sum = a; return sum + b; }\\n\"}
        model
        |
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        back 2
        context
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Remember to run the tests.
        context assistant
        | Written.
        context tool
        | written
        again
        ",
    );
}

#[test]
fn a_paste_acts_once() {
    check(
        "loops__a_paste_acts_once",
        "The model has replaced the pasted code, and its client has written that to disk: the paste in the same message, \
         sent again, doesn't bring the old code back. What is true by now is shown beside it.",
        "
        tools
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Make it faster.
        call write_file
        | {\"path\": \"src/a.c\", \"content\": \"int add(int a, int b) { int sum = a; return sum + b; }\\n\"}
        model
        |
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        context tool
        | written
        again
        call bash
        | {\"command\": \"make test\"}
        model
        | Testing.
        context tool
        | passed
        again
        model
        | All done.
        ",
    );
}

#[test]
fn a_pasted_file_that_changes_under_the_loop() {
    check(
        "loops__a_pasted_file_that_changes_under_the_loop",
        "A tool has written other code over the pasted one: the next step tells the model, and asks the user.",
        &format!(
            "
            tools
            disk src/a.c
            | int add(int a, int b) {{ return a + b; }}
            user
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return a + b; }}
            | ```
            | Make it faster.
            call bash
            | {{\"command\": \"sed\"}}
            model
            |
            {GUTTED}{STEP}
            model
            | All done.
            "
        ),
    );
}

#[test]
fn a_paste_of_a_new_turn_acts_again() {
    check(
        "loops__a_paste_of_a_new_turn_acts_again",
        "The user pastes the same code again after the model has replaced it: a new word, above the disk.",
        "
        tools
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        call write_file
        | {\"path\": \"src/a.c\", \"content\": \"int add(int a, int b) { int sum = a; return sum + b; }\\n\"}
        model
        |
        disk src/a.c
        | int add(int a, int b) { int sum = a; return sum + b; }
        context tool
        | written
        again
        model
        | All done.
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | As it was.
        ",
    );
}

/// Disk is what the user said, without any code in the conversation.
const KNOWN: &str = "
    policy profile strict
    disk src/a.c
    | int add(int a, int b) { return a + b; }
    user
    | @tslp accept src/a.c
    model
    | Noted.
";

#[test]
fn asking_for_a_change_confirms_once() {
    check(
        "loops__asking_for_a_change_confirms_once",
        "In profile strict a proposal waits for the user's next prompt: the loop's next step, with the same words, is none.",
        &format!(
            "{KNOWN}
            tools
            user
            | Change `add` so that it is faster.
            call write_file
            | {{\"path\": \"src/a.c\", \"content\": \"int add(int a, int b) {{ int sum = a; return sum + b; }}\\n\"}}
            model
            |
            {STEP}
            model
            | All done.
            "
        ),
    );
}

#[test]
fn a_user_who_speaks_within_the_loop() {
    check(
        "loops__a_user_who_speaks_within_the_loop",
        "Two calls, two results, and a new message of the user's behind them: that one acts, the one before doesn't.",
        &format!(
            "{PASTED}
            disk src/b.c
            | int sub(int a, int b) {{ return a - b; }}
            {ACCEPTED}{GUTTED}
            context tool
            | done
            context tool
            | done, too
            user
            | @tslp accept src/b.c
            call bash
            | {{\"command\": \"make test\"}}
            model
            |
            {STEP}
            model
            | All done.
            "
        ),
    );
}

#[test]
fn a_reply_that_the_client_begins() {
    check(
        "loops__a_reply_that_the_client_begins",
        "The client gives the model its reply's beginning: the words before it are new. It asks to continue: they aren't.",
        &format!(
            "{PASTED}
            disk src/a.c
            | int add(int a, int b) {{ return b + a; }}
            context
            | @tslp accept src/a.c
            | What does `add` do?
            context assistant
            | It
            again
            model
            | It adds
            {GUTTED}
            back 2
            context assistant
            | It adds
            again
            "
        ),
    );
}

#[test]
fn steps_stay_in_their_session() {
    check(
        "loops__steps_stay_in_their_session",
        "Each step goes on in its session, also where the client puts another context in front of every request.",
        "
        tools
        context
        | The time is 12:00.
        user
        | Build it.
        model
        | First.
        context tool
        | done
        again
        model
        | Second.
        new
        context
        | The time is 12:02.
        context
        | Build it.
        context assistant
        | First.
        context tool
        | done
        context assistant
        | Second.
        context tool
        | passed
        again
        ",
    );
}

#[test]
fn a_client_that_leaves_out_what_the_model_thought() {
    check(
        "loops__a_client_that_leaves_out_what_the_model_thought",
        "The client shows and sends back replies without their thoughts: the conversation is still the same, and so is a turn of it that is asked for again.",
        "
        user
        | Hello
        model
        | <think>
        | A greeting.
        | </think>
        |
        | Hi.
        new
        context
        | Hello
        context assistant
        | Hi.
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        | Improve `add`.
        model
        | <think>a + b, b + a.</think>
        | src/a.c
        | ```c
        | int add(int a, int b) { return b + a; }
        | ```
        disk src/a.c
        | int add(int a, int b) { return b + a; }
        back 1
        again
        ",
    );
}

#[test]
fn a_regenerated_turn_takes_no_changed_disk() {
    check(
        "loops__a_regenerated_turn_takes_no_changed_disk",
        "The whole turn again, from the user's message on: the accept was for another file than the one that the agent has left.",
        &format!(
            "{PASTED}{ACCEPTED}{GUTTED}{STEP}
            model
            | All done.
            back 3
            again
            model
            | What is to be improved?
            "
        ),
    );
}

#[test]
fn a_regenerated_turn_takes_the_same_disk_again() {
    check(
        "loops__a_regenerated_turn_takes_the_same_disk_again",
        "The model's answer became true and nobody has saved it: another answer is asked for, over what the user accepted.",
        &format!(
            "{PASTED}
            disk src/a.c
            | int add(int a, int b) {{ return b + a; }}
            user
            | @tslp accept src/a.c
            | Now improve `add`.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int sum = a; return sum + b; }}
            | ```
            back 1
            again
            "
        ),
    );
}

/// A turn with a paste, and an answer that became true.
const IMPROVED: &str = "
    user
    | src/a.c
    | ```c
    | int add(int a, int b) { return b + a; }
    | ```
    | Improve `add`.
    model
    | src/a.c
    | ```c
    | int add(int a, int b) { int sum = b; return sum + a; }
    | ```
";

#[test]
fn a_regenerated_paste_that_was_applied() {
    check(
        "loops__a_regenerated_paste_that_was_applied",
        "The answer was saved before another one is asked for: disk and truth agree, and the old paste doesn't change that.",
        &format!(
            "{PASTED}{IMPROVED}
            disk src/a.c
            | int add(int a, int b) {{ int sum = b; return sum + a; }}
            back 1
            again
            "
        ),
    );
}

#[test]
fn a_regenerated_paste_that_was_not_applied() {
    check(
        "loops__a_regenerated_paste_that_was_not_applied",
        "Nobody has saved the answer before another one is asked for: the paste is true again.",
        &format!(
            "{PASTED}{IMPROVED}
            back 1
            again
            "
        ),
    );
}

#[test]
fn a_regenerated_confirmation() {
    check(
        "loops__a_regenerated_confirmation",
        "What waits when a confirmation is sent again came after it: it isn't what the user confirmed.",
        &format!(
            "{KNOWN}
            full what is left of messages of directives
            user
            | Improve `add`.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ return b + a; }}
            | ```
            user
            | @tslp confirm src/a.c::add
            | What if it overflows?
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int sum = b; return sum + a; }}
            | ```
            back 1
            again
            "
        ),
    );
}

#[test]
fn a_regenerated_turn_of_a_named_session() {
    check(
        "loops__a_regenerated_turn_of_a_named_session",
        "In profile strict a proposal waits for the user's next prompt: asking for another answer to the same is none.",
        &format!(
            "
            policy profile strict
            session work
            {PASTED}
            user
            | Change `add` so that it is faster.
            model
            | src/a.c
            | ```c
            | int add(int a, int b) {{ int sum = b; return sum + a; }}
            | ```
            back 1
            again
            "
        ),
    );
}

#[test]
fn a_first_message_again_begins_anew() {
    check(
        "loops__a_first_message_again_begins_anew",
        "Nothing stands before the message, so it may as well be another conversation's first: the user says it anew.",
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        new
        disk src/a.c
        | int add(int a, int b) { return b + a; }
        user
        | @tslp accept src/a.c
        ",
    );
}
