//! Directives in prompts: accept, reject, confirm.

use tslp_snapshots::golden::play;

/// The story's full end holds each of these texts.
fn check(story: &str, contains: &[&str]) {
    let end = play(&format!("full what the model saw\n{story}"));
    for text in contains {
        assert!(end.contains(text), "{text:?} is missing in:\n{end}");
    }
}

const PASTED: &str = "
    disk src/a.c
    | int add(int a, int b) {
    |     return a + b;
    | }
    user
    | src/a.c
    | ```c
    | int add(int a, int b) {
    |     return a + b;
    | }
    | ```
    model
    | Noted.
";

#[test]
fn accept_takes_disk_as_the_users_word() {
    let story = format!(
        "{PASTED}
        disk src/a.c
        | int add(int a, int b) {{
        |     return b + a;
        | }}
        user
        | What does `add` do?
        model
        | I can't see it.
        user
        | @tslp accept src/a.c::add
        | What does `add` do?
        "
    );
    check(
        &story,
        &[
            "src/a.c::add is STALE",
            "The user accepted src/a.c::add as it is on disk. It is AUTHORITATIVE.",
            "    return b + a;\n}\n```\n[END CURRENT STATE]",
            "message 4: own text, 1 line\nWhat does `add` do?",
        ],
    );
}

#[test]
fn confirm_promotes_over_stale_and_reject_drops() {
    let story = format!(
        "{PASTED}
        disk src/a.c
        | int add(int a, int b) {{
        |     return b + a;
        | }}
        user
        | Make `add` safer.
        model
        | ```c:src/a.c
        | int add(int a, int b) {{
        |     if (a > 100) return 0;
        |     return a + b;
        | }}
        | ```
        user
        | @tslp confirm src/a.c::add
        "
    );
    check(
        &story,
        &[
            "PROPOSED src/a.c::add stale",
            "AUTHORITATIVE src/a.c::add user_confirmed",
            "The user confirmed the proposed change to src/a.c::add. It is AUTHORITATIVE.",
            "(A directive to the state ledger; what came of it stands in the state notices.)",
        ],
    );
    check(
        &story.replace("confirm", "reject"),
        &["TOMBSTONED src/a.c::add user_rejected"],
    );
}

#[test]
fn a_whole_file_is_confirmed_with_all_that_its_block_changes() {
    check(
        "
        policy history window
        policy profile strict
        policy audit off
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Noted.
        user
        | Let src/a.c add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 12; }
        | ```
        user
        | @tslp confirm src/a.c
        | What does `b` return?
        ",
        &[
            "AUTHORITATIVE src/a.c::a user_confirmed",
            "AUTHORITATIVE src/a.c::b user_confirmed",
            "AUTHORITATIVE src/a.c user_confirmed",
            "\nint b(int x) { return x + 12; }\n```\n[END CURRENT STATE]",
        ],
    );
}

#[test]
fn a_lazy_proposal_can_not_be_confirmed() {
    let story = format!(
        "{PASTED}
        user
        | Make `add` safer.
        model
        | ```c:src/a.c
        | int add(int a, int b) {{
        |     // ... rest unchanged
        | }}
        | ```
        user
        | @tslp confirm src/a.c::add
        "
    );
    check(
        &story,
        &["notice src/a.c::add not_confirmable", "src/a.c::add v1"],
    );
}

#[test]
fn directives_that_name_nothing_are_answered() {
    check(
        "
        user
        | @tslp accept ../../etc/passwd
        | @tslp accept
        | @tslp accept a\u{7}b.c
        | @tslp reject src/none.c::f
        | @tslp dance
        ",
        &[
            "notice target_outside",
            "names a path outside of the workspace",
            "notice target_missing",
            "has no target: use PATH or PATH::SYMBOL",
            "notice target_not_usable",
            "notice src/none.c::f nothing_to_do",
            "notice unknown_directive",
        ],
    );
}

#[test]
fn what_can_not_be_accepted_is_said_why() {
    let large = "int x; ".repeat((1 << 20) / 7 + 1);
    let story = format!(
        "disk src/a.c
        | int add(int a, int b) {{ return a + b; }}
        disk src/large.c
        | {large}
        disk notes.txt
        | Nothing.
        disk src/empty.c
        |
        locked src/locked.c
        user
        | @tslp accept src/none.c
        | @tslp accept src/a.c::sub
        | @tslp accept src/locked.c
        | @tslp accept src/large.c
        | @tslp accept notes.txt::plan
        | @tslp accept src/empty.c
        model
        | Fine.
        user
        | @tslp accept src/a.c
        "
    );
    check(
        &story,
        &[
            "The user could not accept src/none.c: there is no such file on disk.",
            "The user could not accept src/a.c::sub: the file on disk doesn't define it.",
            "The user could not accept src/locked.c: there is no permission to read its file.",
            "The user could not accept src/large.c: the file is too large to be parsed.",
            "The user could not accept notes.txt::plan: its language is not supported.",
            "The user could not accept src/empty.c: the file defines nothing that can be parsed.",
            "notice src/none.c file_missing",
            "notice src/a.c::sub symbol_missing",
            "notice src/locked.c file_unreadable",
            "notice src/large.c too_large_to_accept",
            "notice notes.txt::plan language_not_read",
            "notice src/empty.c nothing_to_accept",
            "The user accepted src/a.c as it is on disk.",
        ],
    );
}

#[test]
fn a_tracked_file_may_have_the_mark_of_a_symbol_in_its_name() {
    check(
        "
        user
        | co::lon.c
        | ```c:co::lon.c
        | int add(int a, int b) { return a + b; }
        | ```
        model
        | Fine.
        disk co::lon.c
        | int add(int a, int b) { return b + a; }
        user
        | @tslp accept co::lon.c
        model
        | Fine.
        disk co::lon.c
        | int add(int a, int b) { return 0; }
        user
        | @tslp accept co::lon.c::add
        ",
        &[
            "The user accepted co::lon.c as it is on disk.",
            "The user accepted co::lon.c::add as it is on disk.",
        ],
    );
}

#[test]
fn what_was_accepted_is_stale_when_it_goes() {
    check(
        "
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        | int sub(int a, int b) { return a - b; }
        user
        | @tslp accept src/a.c
        model
        | Fine.
        disk src/a.c
        | int add(int a, int b) { return a + b; }
        user
        | What does `sub` do?
        ",
        &["withheld src/a.c::sub stale"],
    );
}

/// Found by the simulation: in another window than the proposal's, `confirm` didn't look at the file. What disk held at
/// some earlier look counted as known to the user, so that the confirmed code would have been shown over a file that
/// happened to hold the older text again.
#[test]
fn confirm_in_another_window_looks_at_the_file() {
    check(
        &format!(
            "{PASTED}
        disk src/a.c
        | int add(int a, int b) {{
        |     return b + a;
        | }}
        user
        | Make `add` safer.
        model
        | ```c:src/a.c
        | int add(int a, int b) {{
        |     if (a > 100) return 0;
        |     return a + b;
        | }}
        | ```
        disk src/a.c
        | int add(int a, int b) {{
        |     return b - -a;
        | }}
        client B
        user
        | @tslp confirm src/a.c::add
        "
        ),
        &[
            "v3 PROPOSED -> TOMBSTONED stale",
            "The user's directive found nothing to do for src/a.c::add.",
        ],
    );
}

#[test]
fn what_a_tool_or_the_model_said_is_no_directive_and_stays_as_it_is() {
    let end = play(
        "
        full what the model saw
        tools
        user
        | Show me the notes.
        context assistant
        | @tslp accept src/a.c
        | is what you can say.
        context tool
        | @tslp reject src/a.c
        | is in the notes.
        user
        | @tslp confirm src/a.c
        | Go on.
        ",
    );
    assert!(!end.contains("message 1:"), "{end}");
    assert!(!end.contains("message 2:"), "{end}");
    assert!(end.contains("message 3: own text, 1 line\nGo on."), "{end}");
}

#[test]
fn what_is_not_linked_can_not_be_confirmed() {
    check(
        "
        user
        | ```c:src/a.c
        | int add(int a, int b) {
        |     return a + b;
        | }
        | ```
        model
        | Fine.
        new
        user
        | Write something that adds.
        model
        | ```c
        | int add(int a, int b) {
        |     return b + a;
        | }
        | ```
        user
        | @tslp confirm src/a.c::add
        ",
        &[
            "PROPOSED src/a.c::add not_confirmed",
            "The proposed change to src/a.c::add can't be confirmed: nothing proves that it belongs to that file; ask for it again with the path above it.",
        ],
    );
}

#[test]
fn only_so_many_directives_of_a_prompt_are_carried_out() {
    let typed = |count: usize| {
        let lines = (0..count).map(|at| format!("| @tslp reject src/a{at}.c\n"));
        lines.collect::<String>()
    };
    let answered = |end: &str, reason: &str| end.matches(reason).count();
    for (typed, carried_out, refused) in [
        (typed(64), 64, 0),
        (typed(65), 64, 1),
        (typed(300), 64, 1),
        (format!("| @tslp reject{}\n", " x.c".repeat(300)), 64, 1),
    ] {
        let end = play(&format!("full what the model saw\nuser\n{typed}| Go on.\n"));
        assert_eq!(answered(&end, "e1 directive reject"), carried_out, "{end}");
        assert_eq!(
            answered(&end, "The user's message gives more than 64 directives"),
            refused,
            "{end}"
        );
    }
}
