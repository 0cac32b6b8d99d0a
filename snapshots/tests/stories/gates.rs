//! Promotion of the model's code: gate A, gate B, and what each refusal leads to (spec §6, §7, §12).

use super::{PASTED_FILE, check};

#[track_caller]
fn after_paste(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{PASTED_FILE}{story}"));
}

#[test]
fn faithful_full_update() {
    after_paste(
        "gates__faithful_full_update",
        "The model gives the whole file with a change: every changed part is promoted by structural parity.",
        "
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     if (low > high) return x;
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        user
        | Show me clamp()
        ",
    );
}

#[test]
fn lazy_then_full() {
    after_paste(
        "gates__lazy_then_full",
        "A lazy edit with a placeholder is refused and told; the full edit that follows is promoted.",
        "
        full a notice with a placeholder and missing lines, and how true code follows
        model
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     if (low > high) return x;
        |     // ... existing code ...
        | }
        | ```
        user
        | Please give clamp() in full.
        model
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     if (low > high) return x;
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        user
        | Show me clamp()
        ",
    );
}

#[test]
fn lazy_file() {
    after_paste(
        "gates__lazy_file",
        "A placeholder between functions makes the whole block partial: nothing of it is promoted, nothing removed.",
        "
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | // ... rest of the code unchanged ...
        |
        | int twice(int x) {
        |     return 2 * x + 0 * x;
        | }
        | ```
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn cut_by_length() {
    after_paste(
        "gates__cut_by_length",
        "A reply that ended by its length limit is truncated even if its last block happens to parse.",
        "
        model cut
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x + 0;
        |     return sum;
        | }
        | ```
        user
        | Go on.
        ",
    );
}

#[test]
fn unclosed_fence() {
    after_paste(
        "gates__unclosed_fence",
        "A fence that is never closed is truncated.",
        "
        model
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x + 0;
        |     return sum;
        | }
        user
        | Go on.
        ",
    );
}

#[test]
fn dropped_function() {
    after_paste(
        "gates__dropped_function",
        "A whole file without one of its functions is refused as a whole; the other function stays as well.",
        "
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     if (low > high) return x;
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn collapse() {
    after_paste(
        "gates__collapse",
        "A function that shrank below half of its nodes and tokens is refused.",
        "
        model
        | ```c:src/a.c
        | int clamp(int x, int low, int high) {
        |     return x;
        | }
        | ```
        user
        | Show me clamp()
        ",
    );
}

#[test]
fn collapse_in_small_steps() {
    check(
        "gates__collapse_in_small_steps",
        "Each reply takes out one line, which a change may. What would leave less than half of what the user pasted is refused.",
        "
        user
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     store(c, high, n);
        |     store(d, span, n);
        |     notify(a, b, c, d);
        |     log_all(total, low, high);
        |     count(calls, 1);
        |     touch(clock, now);
        | }
        | ```
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     store(c, high, n);
        |     store(d, span, n);
        |     notify(a, b, c, d);
        |     log_all(total, low, high);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     store(c, high, n);
        |     store(d, span, n);
        |     notify(a, b, c, d);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     store(c, high, n);
        |     store(d, span, n);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     store(c, high, n);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     store(b, low, n);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     store(a, total, n);
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     int span = high - low;
        |     touch(clock, now);
        | }
        | ```
        user
        | Go on with stats().
        model
        | ```c:src/stats.c
        | void stats(int *x, int n) {
        |     int total = sum(x, n);
        |     int low = least(x, n);
        |     int high = most(x, n);
        |     touch(clock, now);
        | }
        | ```
        ",
    );
}

#[test]
fn renamed_function() {
    after_paste(
        "gates__renamed_function",
        "A whole file in which a function bears another name is refused: the old name stays.",
        "
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int limit(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        user
        | Show me src/a.c
        ",
    );
}

#[test]
fn renamed_function_alone() {
    after_paste(
        "gates__renamed_function_alone",
        "A renamed function by itself: the old name stays, the new one waits for the user, and both are named.",
        "
        model
        | ```c:src/a.c
        | int limit(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        | ```
        user
        | Show me clamp() and limit()
        ",
    );
}

#[test]
fn added_function() {
    after_paste(
        "gates__added_function",
        "A whole file with one more function: an expanded symbol set passes parity.",
        "
        model
        | ```c:src/a.c
        | #include <a.h>
        |
        | int clamp(int x, int low, int high) {
        |     if (x < low) return low;
        |     if (x > high) return high;
        |     return x;
        | }
        |
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        |
        | int thrice(int x) { return 3 * x; }
        | ```
        user
        | Show me thrice()
        ",
    );
}

#[test]
fn new_file() {
    check(
        "gates__new_file",
        "The model writes a file that nobody knew and that disk doesn't have: promoted, the base is empty.",
        "
        user
        | Write src/new.c with a function `fresh`.
        model
        | ```c:src/new.c
        | #include <new.h>
        | int fresh(void) { return 1; }
        | ```
        user
        | Show me fresh()
        ",
    );
}

#[test]
fn strict_profile() {
    check(
        "gates__strict_profile",
        "Under the strict profile parity is no grant of its own: a faithful update waits for the user.",
        "
        policy profile strict
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | ```c:src/a.c
        | int a(int x) { return x + 2; }
        | ```
        user
        | Show me a()
        ",
    );
}

#[test]
fn broken_replies() {
    after_paste(
        "gates__broken_replies",
        "Replies that break off, lose their client or are an error advance nothing, whatever code they hold.",
        "
        model broken
        | ```c:src/a.c
        | int twice(int x) { int sum = 2 * x; return sum + 0; }
        | ```
        back 1
        user
        | Once more.
        model gone
        | ```c:src/a.c
        | int twice(int x) { int sum = 2 * x; return sum + 0; }
        | ```
        back 1
        user
        | Once more.
        model refused
        back 1
        user
        | Show me twice()
        ",
    );
}

#[test]
fn recorded_in_pieces() {
    after_paste(
        "gates__recorded_in_pieces",
        "A long reply is recorded piece by piece while it comes; code that spans pieces is judged as one block.",
        "
        full each piece of the reply is in the Vault once
        model pieces
        | Here it is:
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = 2 * x;
        |     return sum;
        | }
        | ```
        | Done.
        user
        | Show me twice()
        ",
    );
}

#[test]
fn repeating_the_truth() {
    after_paste(
        "gates__repeating_the_truth",
        "The model repeats a function as it is: nothing is proposed, nothing is said.",
        "
        model
        | ```c:src/a.c
        | int twice(int x) {
        |     int sum = x + x;
        |     return sum;
        | }
        | ```
        user
        | Show me twice()
        ",
    );
}

#[test]
fn tokens_collapse() {
    check(
        "gates__tokens_collapse",
        "A table that keeps half of its nodes and less than half of its tokens has collapsed as well.",
        "
        user
        | ```c:src/t.c
        | int table[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
        | ```
        model
        | ```c:src/t.c
        | int table[] = {f(), f(), f(), f(), f(), f(), f(), f()};
        | ```
        ",
    );
}

#[test]
fn nodes_collapse() {
    check(
        "gates__nodes_collapse",
        "A function of many statements that comes back with one of them.",
        "
        user
        | ```c:src/a.c
        | int classify(int x) {
        |     if (x < 10) return 1;
        |     if (x < 20) return 2;
        |     if (x < 30) return 3;
        |     if (x < 40) return 4;
        |     return 5;
        | }
        | ```
        model
        | ```c:src/a.c
        | int classify(int x) {
        |     return x < 10 ? 1 : 5;
        | }
        | ```
        ",
    );
}

#[test]
fn second_of_two_collapses() {
    check(
        "gates__second_of_two_collapses",
        "Of two definitions in a block the second collapses: the next prompt's notice names that one.",
        "
        user
        | ```c:src/a.c
        | int one(int x) { return x + 1; }
        | int two(int x) { int y = x + x; int z = y * y; return z > 9 ? 9 : z; }
        | ```
        | Make them long.
        model
        | ```c:src/a.c
        | long one(long x) { return x + 1; }
        | long two(long x) { return x; }
        | ```
        user
        | Go on.
        ",
    );
}

/// Two branches of an `#ifdef` define one function.
const BRANCHES: &str = "
        user
        | ```c:src/a.c
        | #include <a.h>
        | #ifdef FAST
        | int sum(int x) {
        |     int y = x + x;
        |     return y;
        | }
        | #else
        | int sum(int x) {
        |     int y = x;
        |     return y + x;
        | }
        | #endif
        | ```
        | Count to ten.
";

#[test]
fn branches_of_a_whole_file() {
    let story = "
        model
        | ```c:src/a.c
        | #include <a.h>
        | #ifdef FAST
        | int sum(int x) {
        |     int y = x + x;
        |     return y + 10;
        | }
        | #else
        | int sum(int x) {
        |     int y = x;
        |     return y + x;
        | }
        | #endif
        | ```
        ";
    check(
        "gates__branches_of_a_whole_file",
        "A whole file defines a function in two branches, as before: nothing is defined twice.",
        &format!("{BRANCHES}{story}"),
    );
}

#[test]
fn branch_becomes_a_stub() {
    let story = "
        model
        | ```c:src/a.c
        | #include <a.h>
        | #ifdef FAST
        | int sum(int x) {
        |     int y = x + x;
        |     return y;
        | }
        | #else
        | int sum(int x) {
        |     // TODO
        | }
        | #endif
        | ```
        ";
    check(
        "gates__branch_becomes_a_stub",
        "One of two branches loses its body: that one is compared with what stood in its place.",
        &format!("{BRANCHES}{story}"),
    );
}

const JOB: &str = "
        user
        | ```c:src/b.c
        | #include <stdio.h>
        | #include <string.h>
        |
        | struct Job {
        |     int id;
        |     int state;
        |     const char *name;
        | };
        |
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = count;
        |     }
        |     prepare(job, limit);
        |     finish(job, count);
        |     return count;
        | }
        | ```
";

#[track_caller]
fn after_job(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{JOB}{story}"));
}

#[test]
fn remark_in_any_language() {
    after_job(
        "gates__remark_in_any_language",
        "A remark stands where code was. What it says doesn't matter: the code is gone.",
        "
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = count;
        |     }
        |     // wie bisher
        |     return count;
        | }
        | ```
        user
        | Go on with `run`.
        ",
    );
}

#[test]
fn stub_in_place() {
    after_job(
        "gates__stub_in_place",
        "A statement that fails stands where the rest of the body was.",
        "
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = count;
        |     }
        |     abort();
        | }
        | ```
        ",
    );
}

#[test]
fn call_in_the_place_of_a_check() {
    after_job(
        "gates__call_in_the_place_of_a_check",
        "A call that passes nothing on stands where a check was, and then where several statements were, both beside a renamed variable.",
        "
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int length = strlen(job->name);
        |     trace(length);
        |     prepare(job, limit);
        |     finish(job, length);
        |     return length;
        | }
        | ```
        user
        | Please go on with run.
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int length = strlen(job->name);
        |     if (length > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = length;
        |     }
        |     rest_of_body();
        |     return length;
        | }
        | ```
        ",
    );
}

#[test]
fn branch_gone_unasked() {
    after_job(
        "gates__branch_gone_unasked",
        "An else branch is gone, and nobody asked for that. The notice names its lines; the user can take the change.",
        "
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     }
        |     prepare(job, limit);
        |     finish(job, count);
        |     return count;
        | }
        | ```
        user
        | What is next?
        model
        | Nothing.
        user
        | @tslp confirm src/b.c::run
        ",
    );
}

#[test]
fn branch_gone_beside_a_pasted_comment() {
    check(
        "gates__branch_gone_beside_a_pasted_comment",
        "A comment in the code that the user pastes says to remove something. That asks for nothing.",
        "
        user
        | ```c:src/c.c
        | int drop(int all) {
        |     // Remove all of them.
        |     if (all) {
        |         clear();
        |     } else {
        |         clear_one(all);
        |     }
        |     return all;
        | }
        | ```
        | Make `drop` safe, please.
        model
        | ```c:src/c.c
        | int drop(int all) {
        |     // Remove all of them.
        |     if (all) {
        |         clear();
        |     }
        |     return all;
        | }
        | ```
        ",
    );
}

#[test]
fn branch_gone_as_asked() {
    after_job(
        "gates__branch_gone_as_asked",
        "The user asks for the removal, so it is none that nobody asked for.",
        "
        model
        | I see.
        user
        | Please remove the else branch from `run`.
        model
        | ```c:src/b.c
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     }
        |     prepare(job, limit);
        |     finish(job, count);
        |     return count;
        | }
        | ```
        ",
    );
}

#[test]
fn half_moves_into_a_helper() {
    after_job(
        "gates__half_moves_into_a_helper",
        "What is gone stands in another function of the same reply: it was moved.",
        "
        model
        | ```c:src/b.c
        | static int measure(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count > limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = count;
        |     }
        |     return count;
        | }
        |
        | int run(struct Job *job, int limit) {
        |     int count = measure(job, limit);
        |     prepare(job, limit);
        |     finish(job, count);
        |     return count;
        | }
        | ```
        ",
    );
}

#[test]
fn field_gone_unasked() {
    after_job(
        "gates__field_gone_unasked",
        "A field of a struct is a part with a name: somebody may use it.",
        "
        model
        | ```c:src/b.c
        | struct Job {
        |     int id;
        |     const char *name;
        | };
        | ```
        ",
    );
}

#[test]
fn include_gone_beside_a_change() {
    after_job(
        "gates__include_gone_beside_a_change",
        "A whole file changes one thing, and lacks an include.",
        "
        model
        | ```c:src/b.c
        | #include <stdio.h>
        |
        | struct Job {
        |     int id;
        |     int state;
        |     const char *name;
        | };
        |
        | int run(struct Job *job, int limit) {
        |     int count = strlen(job->name);
        |     if (count >= limit) {
        |         printf(\"%d is too long\", job->id);
        |         return -1;
        |     } else {
        |         job->state = count;
        |     }
        |     prepare(job, limit);
        |     finish(job, count);
        |     return count;
        | }
        | ```
        ",
    );
}

const FORM: &str = "
        user
        | form.go
        | ```go
        | package form
        |
        | import \"strings\"
        |
        | func (f *Form) Parse(raw string) error {
        | \tif raw == \"\" {
        | \t\treturn errEmpty
        | \t}
        | \tf.Params = map[string]string{}
        | \tfor _, pair := range strings.Split(raw, \"&\") {
        | \t\tkey, value, _ := strings.Cut(pair, \"=\")
        | \t\tf.Params[key] = value
        | \t}
        | \tf.Total = len(f.Params)
        | \treturn nil
        | }
        | ```
        | Extract the loop of `Parse` into a helper.
        model
        | form.go
        | ```go
        | func (f *Form) Parse(raw string) error {
        | \tif raw == \"\" {
        | \t\treturn errEmpty
        | \t}
        | \tf.Params = parseParams(raw)
        | \tf.Total = len(f.Params)
        | \treturn nil
        | }";

#[test]
fn a_call_of_what_nobody_knows() {
    check(
        "gates__a_call_of_what_nobody_knows",
        "A loop isn't extracted by a call alone: nobody knows what is called. With the helper the same edit is taken.",
        &format!(
            "{FORM}
        | ```
        user
        | Where is the helper?
        model
        | form.go
        | ```go
        | func (f *Form) Parse(raw string) error {{
        | \tif raw == \"\" {{
        | \t\treturn errEmpty
        | \t}}
        | \tf.Params = parseParams(raw)
        | \tf.Total = len(f.Params)
        | \treturn nil
        | }}
        |
        | func parseParams(text string) map[string]string {{
        | \tresult := map[string]string{{}}
        | \tfor _, part := range strings.Split(text, \"&\") {{
        | \t\tname, value, _ := strings.Cut(part, \"=\")
        | \t\tresult[name] = value
        | \t}}
        | \treturn result
        | }}
        | ```
        "
        ),
    );
}

#[test]
fn a_helper_that_does_nothing() {
    check(
        "gates__a_helper_that_does_nothing",
        "A call does what it calls: a loop isn't extracted into a helper that has nothing of it.",
        &format!(
            "{}
        |
        | func parseParams(raw string) map[string]string {{
        | \treturn map[string]string{{}}
        | }}
        | ```
        ",
            FORM.replace(
                "nil\n",
                "f.checked(raw, f.Total, strings.ToLower(f.Name))\n"
            )
        ),
    );
}
