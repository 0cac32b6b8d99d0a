//! The shadow audit: early, late, doubtful and silent (spec §10).

use super::check;

/// In profile `strict` a faithful change lacks only a grant.
const LACKS_A_GRANT: &str = "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Make `a` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
";

#[track_caller]
fn after_change(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{LACKS_A_GRANT}{story}"));
}

#[test]
fn completed_in_time() {
    after_change(
        "audits__completed_in_time",
        "An audit that finds the change complete before the next prompt is the grant that was missing.",
        "
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        user
        | What does a() do?
        ",
    );
}

#[test]
fn completed_too_late() {
    after_change(
        "audits__completed_too_late",
        "An audit that comes after the next prompt promotes nothing.",
        "
        user
        | What does a() do?
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        ",
    );
}

#[test]
fn partial() {
    after_change(
        "audits__partial",
        "An audit that doubts the change keeps it PROPOSED, and the next prompt says so.",
        "
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"partial\"}
        user
        | What does a() do?
        ",
    );
}

#[test]
fn no_answer() {
    after_change(
        "audits__no_answer",
        "What is no answer in the form that was asked for grants nothing.",
        "
        audit
        | It looks completed to me!
        user
        | What does a() do?
        ",
    );
}

#[test]
fn cancelled() {
    after_change(
        "audits__cancelled",
        "An audit that ended without an answer grants nothing.",
        "
        audit cancelled
        user
        | What does a() do?
        ",
    );
}

#[test]
fn stale_meanwhile() {
    after_change(
        "audits__stale_meanwhile",
        "Disk changed while the audit ran: its grant comes too late for the base.",
        "
        disk src/a.c
        | int a(int x) { return x - 1; }
        | int b(int x) { return x + 2; }
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        ",
    );
}

#[test]
fn stale_file_meanwhile() {
    check(
        "audits__stale_file_meanwhile",
        "The file got an include while the audit ran: the function is the same, so the audit's grant counts.",
        "
        policy profile strict
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Make `a` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        disk src/a.c
        | #include <assert.h>
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        ",
    );
}

#[test]
fn block_as_a_whole() {
    check(
        "audits__block_as_a_whole",
        "Two definitions of one block: the audit finds one of them partial, so neither is promoted.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Add 10 to both.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 20; }
        | ```
        audit
        | [{\"entity\": \"src/a.c::a\", \"status\": \"completed\"},
        |  {\"entity\": \"src/a.c::b\", \"status\": \"partial\"}]
        ",
    );
}

#[test]
fn late_doubt_of_the_truth() {
    check(
        "audits__late_doubt_of_the_truth",
        "With `audit on` a promoted change is audited, too; a late doubt contests it and takes nothing back.",
        "
        full the audit's question, and its row
        policy audit on
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        | Make `a` add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        user
        | What does a() do?
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"discussion\"}
        model
        | It adds.
        user
        | And a() now?
        ",
    );
}

#[test]
fn base_moved_meanwhile() {
    check(
        "audits__base_moved_meanwhile",
        "The file got another function in another window before the audit's answer: the whole file as judged would lack it.",
        "
        policy profile strict
        user
        | Write src/a.c
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int a(int x) { return x + 10; }
        | ```
        client B
        user
        | ```c:src/a.c
        | int b(int x) { return x + 2; }
        | ```
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        ",
    );
}

#[test]
fn on_disk_meanwhile() {
    check(
        "audits__on_disk_meanwhile",
        "Another function of the same name came to disk before the audit's answer: the new one isn't promoted over it.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int b(int x) { return x + 2; }
        | ```
        | Write `a`.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        disk src/a.c
        | int b(int x) { return x + 2; }
        | int a(int x) { return x - 1; }
        audit
        | {\"entity\": \"src/a.c::a\", \"status\": \"completed\"}
        ",
    );
}

#[test]
fn one_block_of_two_doubted() {
    check(
        "audits__one_block_of_two_doubted",
        "Of a reply's two blocks one is doubted: the other one is promoted by itself.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        | Make both add 10.
        model
        | ```c:src/a.c
        | int a(int x) { return x + 10; }
        | ```
        | and
        | ```c:src/a.c
        | int b(int x) { return x + 10; }
        | ```
        audit
        | [{\"entity\": \"src/a.c::a\", \"status\": \"completed\"}, {\"entity\": \"src/a.c::b\", \"status\": \"partial\"}]
        ",
    );
}

/// An agent's edit that lacks only a grant, and the step after it.
const AGENTS_STEP: &str = "
        policy profile strict
        touch
        tools
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | Make `a` in src/a.c add 10.
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 1\", \"new_string\": \"x + 10\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 2; }
        context tool
        | Edit applied.
        again
        model
        | Done.
";

#[test]
fn after_an_agents_next_step() {
    check(
        "audits__after_an_agents_next_step",
        "An agent's next step isn't the user's next prompt: an audit that was put off until then still counts.",
        &format!(
            "{AGENTS_STEP}
        audit
        | {{\"entity\": \"src/a.c::a\", \"status\": \"completed\"}}
        user
        | What does a() do?
        "
        ),
    );
}
