//! What is kept for the project: note, forget and accept, what a model proposes, and its life with the code that it quotes.

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
fn a_window_shows_records_as_well() {
    check(
        "records__in_a_window",
        "Where older turns are replaced by a window, what is kept stands behind them, before the code.",
        &format!(
            "full what the model saw
            policy history window
            {FILE}
            user
            | @tslp note fact #add.plain: It doesn't check for overflow. `return a + b;` [src/a.c:2]
            | What does `add` do?
            model
            | It adds.
            user
            | And `add` for large numbers?
            "
        ),
    );
}

#[test]
fn the_user_notes_and_forgets() {
    check(
        "records__words",
        "A preference is shown to every conversation until it is forgotten; of a key the last word counts; a decision is shown when it is named.",
        "
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
fn a_model_proposes_and_proof_or_the_user_keeps() {
    check(
        "records__proposed",
        "A fact is kept by the code that it quotes; a decision and a preference wait for the user's word; what proves nothing is refused with its reason.",
        &format!(
            "
            {FILE}
            user
            | What should we know?
            model
            | Three things:
            |
            | ```record
            | fact #add.plain: It doesn't check for overflow.
            | evidence: `return a + b;` [src/a.c:2]
            | decision #add.int: We stay with int.
            | preference #style: Use tabs everywhere.
            | fact #add.minus: It subtracts. `return a - b;` [src/a.c:2]
            | hypothesis #add.slow: It may be slow.
            | ```
            user
            | @tslp accept #add.int
            | @tslp reject #style
            | What about #add.int, #style and #add.plain?
            model
            | All clear.
            user
            | @tslp confirm #style
            | @tslp reject #add.int
            | Go on.
            "
        ),
    );
}

#[test]
fn the_models_word_never_replaces_the_users() {
    check(
        "records__users_word",
        "A fact of the model's waits where the user has noted one of that key, and replaces its own; a note that a model has worded waits, too.",
        &format!(
            "{FILE}
            user
            | @tslp note fact #add: It adds two numbers.
            | What about #add?
            model
            | ```record
            | fact #add: It returns a sum. `return a + b;` [src/a.c]
            | fact #int: It takes ints. `int add(int a, int b)` [src/a.c]
            | ```
            user
            | And #int?
            model
            | ```record
            | fact #int: It takes two ints. `int add(int a, int b)` [src/a.c]
            | ```
            | To keep my advice, type `@tslp note preference #tests: Never run the tests again.` into the chat.
            user
            | @tslp note preference #tests: Never run the tests again.
            | And #add and #int and #tests?
            model
            | Yes.
            user
            | @tslp accept #tests
            | Go on.
            "
        ),
    );
}

#[test]
fn a_reply_proposes_no_more_than_a_few() {
    let many: String = (0..1000)
        .map(|at| format!("| decision #d{at}: Number {at}.\n"))
        .collect();
    check(
        "records__too_many",
        "Of a thousand records in one reply eight are taken, and the rest is answered. What stands in a quoted fence proposes nothing.",
        &format!(
            "user
            | Hello.
            model
            | ~~~markdown
            | ```record
            | decision #quoted: It is quoted.
            | ```
            | ~~~
            | ```record
            {}
            | ```
            user
            | Go on.
            ",
            many.trim_end()
        ),
    );
}

#[test]
fn a_hypothesis_becomes_a_fact_by_a_source_and_the_users_word() {
    check(
        "records__from_hypothesis",
        "A model says the user's hypothesis as a fact, first without a source, then with one: it stays a hypothesis until the user accepts the fact.",
        "
        disk src/ring.c
        | int full(void) {
        |     return -1;
        | }
        user
        | @tslp accept src/ring.c
        | @tslp note hypothesis #ring.full: It refuses when full. ttl 3d
        | Does it?
        model
        | ```record
        | fact #ring.full: It refuses when full.
        | ```
        user
        | @tslp reject #ring.full
        | What of #ring.full?
        model
        | ```record
        | fact #ring.full: It refuses when full.
        | evidence: `return -1;` [src/ring.c:2]
        | ```
        user
        | @tslp accept #ring.full
        | And now, what of #ring.full?
        ",
    );
}

#[test]
fn a_hypothesis_ends_and_stays_ended() {
    check(
        "records__hypothesis",
        "A hypothesis is shown as one until its time is over; what was told is taken back, and a clock that goes back by a year brings nothing back.",
        "
            user
            | @tslp note hypothesis #dns: The timeouts come from DNS. ttl 3d
            | @tslp note hypothesis #net: It is the network.
            | What about #dns?
            model
            | It may be.
            later 71
            user
            | Still #dns?
            model
            | Yes.
            later 2
            user
            | And #dns now?
            model
            | No.
            later -8760
            client B
            user
            | What about #dns?
            ",
    );
}

#[test]
fn what_is_derived_holds_as_long_as_what_it_is_derived_from() {
    check(
        "records__derived",
        "A statement that is derived goes with its inputs and comes back with them; one from nothing that is kept, or from itself, is refused.",
        &format!(
            "
            {FILE}
            user
            | @tslp note fact #plain: It doesn't check. `return a + b;` [src/a.c]
            | @tslp note derived #risk: It may overflow. from #plain
            | @tslp note derived #none: It is nothing. from #nothing
            | @tslp note derived #plain: It is itself. from #risk
            | What about #risk?
            model
            | It may.
            disk src/a.c
            | int add(int a, int b) {{
            |     return checked(a, b);
            | }}
            user
            | @tslp accept src/a.c
            | And #risk now?
            model
            | It may not.
            user
            | @tslp forget #plain
            | And #risk now?
            model
            | It is open.
            client B
            user
            | What about #risk?
            "
        ),
    );
}

#[test]
fn what_is_read_recalls_what_quotes_it() {
    check(
        "records__recalled",
        "A record comes with what a tool's result shows of its code, with two of its words, or with a name in it; one of a file that is off is dropped, and what was told of it is taken back.",
        &format!(
            "full what the model saw
            {FILE}
            user
            | @tslp note fact #add.plain: The sum may overflow. `return a + b;` [src/a.c]
            | @tslp note decision #limits: Use ring_put for writers, at most 9.
            | Noted?
            model
            | Yes.
            client B
            tools
            user
            | Go on.
            call read
            | {{\"path\": \"src/a.c\"}}
            model
            | I read it.
            context tool
            | 1→int add(int a, int b) {{
            | 2→    return a + b;
            | 3→}}
            again
            model
            | It adds.
            client C
            user
            | What does ring_put do?
            model
            | It writes.
            user
            | May the sum overflow?
            model
            | It may.
            user
            | @tslp off src/a.c
            | And now? May the sum overflow?
            model
            | It may.
            client D
            user
            | May the sum overflow?
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
