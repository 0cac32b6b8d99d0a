//! Agents: the prompt only grows, and what an agent touches is known.

use super::check;

/// A file that nobody adopted, an agent that reads it.
const READ: &str = "
        touch
        tools
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        user
        | Make the addition in src/a.c saturate, please.
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | 1: int add(int a, int b)
        | 2: {
        | 3:     return a + b;
        | 4: }
        | 5:
        | 6: int sub(int a, int b)
        | 7: {
        | 8:     return a - b;
        | 9: }
        again
        ";

/// The agent changes one function, and its client writes that.
const EDIT: &str = "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a + b;\", \"new_string\": \"    int sum = a + b;\\n    return sum > 100 ? 100 : sum;\"}
        model
        | I change it.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     int sum = a + b;
        |     return sum > 100 ? 100 : sum;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        context tool
        | Edit applied.
        again
        ";

fn story(name: &str, what: &str, parts: &[&str]) {
    check(&format!("agents__{name}"), what, &parts.concat());
}

#[test]
fn first_edit_in_a_fresh_project() {
    story(
        "first_edit_in_a_fresh_project",
        "Nobody adopted the file: the prompt names it, so it is known before the first edit, which is promoted. Nothing is put into any step.",
        &[READ, EDIT],
    );
}

#[test]
fn named_only_by_a_call() {
    story(
        "named_only_by_a_call",
        "The call that reads a file makes it known before the client runs it.",
        &[&READ.replace("in src/a.c ", ""), EDIT],
    );
}

#[test]
fn never_taken_after_the_edit() {
    story(
        "never_taken_after_the_edit",
        "A new file that the model wrote in part is never taken as the user's.",
        &["
        touch
        tools
        user
        | Write src/b.c, please.
        call write
        | {\"path\": \"src/b.c\", \"content\": \"int twice(int x)\\n{\\n    // ... existing code ...\\n}\\n\"}
        model
        | I write it.
        disk src/b.c
        | int twice(int x)
        | {
        |     // ... existing code ...
        | }
        context tool
        | Written.
        again
        model
        | Done.
        user
        | What does twice() in src/b.c do?
        "],
    );
}

#[test]
fn shown_again_where_it_was() {
    story(
        "shown_again_where_it_was",
        "A function that the prompt names is put in front of the user's words once, and stands there in every later step; once the client has read it, it isn't put anywhere again.",
        &["
        tools
        disk src/a.c
        | int add_up(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        user
        | ```c:src/a.c
        | int add_up(int a, int b) { return a + b; }
        |
        | int sub(int a, int b) { return a - b; }
        | ```
        model
        | Noted.
        new
        user
        | What does `add_up` do?
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I look.
        context tool
        | 1: int add_up(int a, int b) { return a + b; }
        again
        model
        | It adds.
        user
        | And `add_up` with `sub`?
        "],
    );
}

#[test]
fn own_edit_is_not_stale() {
    story(
        "own_edit_is_not_stale",
        "What the model itself has changed in view stays as it was read; in a new turn that names it the function is shown as it is now.",
        &[
            READ,
            EDIT,
            "
        model
        | Done.
        user
        | And what does add() return for large sums?
        ",
        ],
    );
}

#[test]
fn changed_by_the_user_meanwhile() {
    story(
        "changed_by_the_user_meanwhile",
        "Somebody edits one function: in older messages that one alone is withheld, line for line, once and for ever; the rest of the listing stays.",
        &[
            READ,
            "
        call list
        | {}
        model
        | I look around.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return b - a;
        | }
        context tool
        | src
        again
        model
        | Hm.
        context tool
        | nothing
        again
        model
        | Done.
        user
        | Go on.
        ",
        ],
    );
}

#[test]
fn changed_in_another_conversation() {
    story(
        "changed_in_another_conversation",
        "What another conversation changed is withheld where this one shows the old code, and stays as it is where the prompt shows the new one.",
        &[
            READ,
            "
        model
        | I see.
        client B
        user
        | src/a.c
        | ```c
        | int sub(int a, int b)
        | {
        |     return b - a;
        | }
        | ```
        model
        | Noted.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return b - a;
        | }
        client A
        user
        | Go on.
        model
        | Yes.
        user
        | What does sub() do?
        ",
        ],
    );
}

/// The agent's edit leaves out a part, and its client writes it all the same.
const DAMAGE: &str = "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a - b;\", \"new_string\": \"    // ... existing code ...\"}
        model
        | I change it.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     // ... existing code ...
        | }
        context tool
        | Edit applied.
        again
        ";

#[test]
fn refused_edit_that_was_applied() {
    story(
        "refused_edit_that_was_applied",
        "The client applies an edit that was refused: the model is told once what is missing, nothing is withheld, and the next step has no word more.",
        &[
            READ,
            DAMAGE,
            "
        call list
        | {}
        model
        | I look around.
        context tool
        | src
        again
        ",
        ],
    );
}

#[test]
fn mended_by_the_agent() {
    story(
        "mended_by_the_agent",
        "Once the file holds again all that it has to, the state follows it without a person.",
        &[
            READ,
            DAMAGE,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    // ... existing code ...\", \"new_string\": \"    int difference = a - b;\\n    return difference;\"}
        model
        | I mend it.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     int difference = a - b;
        |     return difference;
        | }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

#[test]
fn applied_inexactly_by_the_client() {
    story(
        "applied_inexactly_by_the_client",
        "The client applies an edit whose old text isn't in the file to the letter: what it made is judged, and becomes true.",
        &[
            READ,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"return a  -  b;\", \"new_string\": \"return a - b - 1;\"}
        model
        | I change it.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b - 1;
        | }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

#[test]
fn refused_by_the_client() {
    story(
        "refused_by_the_client",
        "The client doesn't apply an edit that was promoted; the model reads the file and makes it again. Nothing is withheld and nobody told.",
        &[
            READ,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a - b;\", \"new_string\": \"    return a - b - 1;\"}
        model
        | I change it.
        context tool
        | Read the file first.
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a - b;\", \"new_string\": \"    return a - b - 1;\"}
        model
        | Again.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b - 1;
        | }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

#[test]
fn side_requests() {
    story(
        "side_requests",
        "A title and a summary go out as they came, and no code in them or in the reply is anybody's.",
        &["
        full nothing but the request is on record
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        context system
        | You are a title generator. You output ONLY a thread title.
        context
        | Generate a title for this conversation:
        user
        | src/a.c
        | ```c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | src/a.c
        | ```c
        | int add(int a, int b) { return 0; }
        | ```
        "],
    );
}

#[test]
fn notices_wait_for_the_users_next_words() {
    story(
        "notices_wait_for_the_users_next_words",
        "What only the user can act on waits for the end of a chain of tool calls.",
        &[
            "policy profile strict\n        policy audit off\n",
            READ,
            EDIT,
            "
        model
        | Done.
        user
        | Thanks.
        ",
        ],
    );
}

#[test]
fn written_before_the_reply_was_judged() {
    story(
        "written_before_the_reply_was_judged",
        "A client runs a call before the reply's end: disk holds the edit when it is judged, and agrees with it.",
        &[
            READ,
            r#"
        call edit
        | {"path": "src/a.c", "old_string": "    return a + b;", "new_string": "    int sum = a + b;\n    return sum > 100 ? 100 : sum;"}
        disk src/a.c
        | int add(int a, int b)
        | {
        |     int sum = a + b;
        |     return sum > 100 ? 100 : sum;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        model
        | I change it.
        context tool
        | Edit applied.
        again
        "#,
        ],
    );
}

/// An edit of `sub` whose old text is as the client's tool doesn't find it.
const INVENTED: &str = "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"int sub(int a, int b) {\\n    return b - a;\\n}\", \"new_string\": \"int sub(int a, int b) {\\n    return a;\\n}\"}
        model
        | I change it.
        context tool
        | Error: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.
        again
        ";

#[test]
fn edit_that_does_not_match() {
    story(
        "edit_that_does_not_match",
        "The client says that an edit's old text isn't in the file: the model is told the lines that it must have meant, once, and the notice stays where it was.",
        &[
            "full what the prompts hold",
            READ,
            INVENTED,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a - b;\", \"new_string\": \"    return a - b - 1;\"}
        model
        | Now it fits.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b - 1;
        | }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

#[test]
fn edit_that_matches_a_former_version() {
    story(
        "edit_that_matches_a_former_version",
        "The old text is what the file held before the model's own last edit of it.",
        &[
            READ,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return a - b;\", \"new_string\": \"    int result = a - b;\\n    return result;\"}
        model
        | I change it.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     int result = a - b;
        |     return result;
        | }
        context tool
        | Edit applied.
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"int sub(int a, int b)\\n{\\n    return a - b;\\n}\", \"new_string\": \"int sub(int a, int b)\\n{\\n    return a - b + 1;\\n}\"}
        model
        | Once more.
        context tool
        | String to replace not found in file.
        again
        ",
        ],
    );
}

#[test]
fn several_edits_of_which_some_do_not_match() {
    story(
        "several_edits_of_which_some_do_not_match",
        "Of several edits of one file in one reply each that doesn't match is answered; those that matched aren't.",
        &[
            "full what the prompts hold",
            READ,
            r#"
        call edit
        | {"path": "src/a.c", "old_string": "    return a + b;", "new_string": "    return b + a;"}
        call edit
        | {"path": "src/a.c", "old_string": "int sub(int a, int b) {\n    return b - a;\n}", "new_string": "int sub(int a, int b) {\n    return a;\n}"}
        model
        | I change both.
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return b + a;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        context tool
        | Edit applied.
        context tool
        | String to replace not found in file.
        again
        call multi_edit
        | {"path": "src/a.c", "edits": [{"old_string": "    return a - b;", "new_string": "    return a - b - 1;"}, {"old_string": "int add(int a, int c)", "new_string": "long add(int a, int c)"}, {"old_string": "int sub(int a, int c)", "new_string": "long sub(int a, int c)"}]}
        model
        | Now the rest.
        context tool
        | String to replace not found in file.
        again
        "#,
        ],
    );
}

#[test]
fn several_blocks_of_which_one_does_not_match() {
    story(
        "several_blocks_of_which_one_does_not_match",
        "A chat's blocks of search and replace: the client writes the one that matches, and the other one is answered.",
        &[r#"
        full what the prompts hold
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        user
        | src/a.c
        | ```c
        | int add(int a, int b)
        | {
        |     return a + b;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        | ```
        | Let add and sub in src/a.c saturate.
        model
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        |     return a + b;
        | =======
        |     return b + a;
        | >>>>>>> REPLACE
        | ```
        |
        | src/a.c
        | ```c
        | <<<<<<< SEARCH
        | int sub(int a, int b) {
        |   return b - a;
        | =======
        | int sub(int a, int b) {
        |   return a;
        | >>>>>>> REPLACE
        | ```
        disk src/a.c
        | int add(int a, int b)
        | {
        |     return b + a;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        user
        | One block failed to match. src/a.c is now:
        | src/a.c
        | ```c
        | int add(int a, int b)
        | {
        |     return b + a;
        | }
        |
        | int sub(int a, int b)
        | {
        |     return a - b;
        | }
        | ```
        model
        | I see.
        "#],
    );
}

#[test]
fn edit_that_does_not_match_is_left_to_the_client() {
    story(
        "edit_that_does_not_match_is_left_to_the_client",
        "With `repair.edits = off` the client's words are all that the model gets.",
        &["policy repair.edits off", READ, INVENTED],
    );
}
