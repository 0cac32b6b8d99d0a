//! Files move while a conversation goes on: somebody saves late, undoes, edits by hand, renames or deletes.

use super::check;

/// Two functions, pasted and on disk; the model changes the first in a chat.
const CHANGED_IN_CHAT: &str = "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        model
        | Fine.
        user
        | Change a()
        model
        | ```c:src/a.c
        | int a(int x) { return x + 7; }
        | ```
";

fn story(name: &str, what: &str, parts: &[&str]) {
    check(&format!("moving_files__{name}"), what, &parts.concat());
}

#[test]
fn not_saved_while_the_user_edits_elsewhere() {
    story(
        "not_saved_while_the_user_edits_elsewhere",
        "An accepted change that isn't saved stays the current version while the user edits another function of the file; that one is STALE.",
        &[
            CHANGED_IN_CHAT,
            "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 200; }
        user
        | What do a() and b() do?
        ",
        ],
    );
}

#[test]
fn saved_and_undone() {
    story(
        "saved_and_undone",
        "Once disk has held an accepted change, the older version there is an undo: STALE, not waiting to be saved.",
        &[
            CHANGED_IN_CHAT,
            "
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | I saved it. What does a() do?
        model
        | It adds 7.
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        new
        user
        | And a() now?
        ",
        ],
    );
}

#[test]
fn two_changes_before_the_first_is_saved() {
    story(
        "two_changes_before_the_first_is_saved",
        "A second change is judged against the first one, which isn't saved yet, and both lack nothing but the saving.",
        &[
            CHANGED_IN_CHAT,
            "
        user
        | Add a function c() below a(), and make a() add 8
        model
        | ```c:src/a.c
        | int a(int x) { return x + 8; }
        | int c(int x) { return x + 3; }
        | ```
        user
        | Show me a() and c()
        ",
        ],
    );
}

#[test]
fn two_windows_race() {
    story(
        "two_windows_race",
        "What one window's accepted change made and nobody saved is shown to the other window with a warning; a change that the other window made of the older version is refused.",
        &[
            CHANGED_IN_CHAT,
            "
        client B
        user
        | Explain a() in src/a.c
        client A
        user
        | And make a() add 9
        model
        | ```c:src/a.c
        | int a(int x) { return x + 9; }
        | ```
        client B
        model
        | ```c:src/a.c
        | int a(int x) { return x + 70; }
        | ```
        user
        | Once more, a() please
        ",
        ],
    );
}

/// An agent reads a file, changes one of its functions, and its client writes that.
const AGENT_AT_WORK: &str = "
        touch
        tools
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        user
        | Make a() in src/a.c add 7
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 1\", \"new_string\": \"x + 7\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        context tool
        | Edit applied.
        again
        model
        | Done.
";

/// The model reads the file in a new conversation, after `git checkout`.
const UNDONE_AND_READ: &str = "
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        new
        user
        | Look at src/a.c
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | 1: int a(int x) { return x + 1; }
        | 2: int b(int x) { return x + 2; }
        again
";

#[test]
fn formatted_between_two_turns() {
    story(
        "formatted_between_two_turns",
        "A formatter ran over a file that the next prompt doesn't name: the state follows at the first look, and nobody hears of it.",
        &[
            AGENT_AT_WORK,
            "
        disk src/a.c
        | int a(int x) {
        |     return x + 7;
        | }
        |
        | int b(int x) {
        |     return x + 2;
        | }
        user
        | What is left to do?
        model
        | Nothing.
        ",
        ],
    );
}

#[test]
fn undone_and_read() {
    story(
        "undone_and_read",
        "Somebody undoes an edit; the agent reads the file in a new conversation, so what disk holds is the base of its next edits, of every function.",
        &[
            AGENT_AT_WORK,
            UNDONE_AND_READ,
            "
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 1\", \"new_string\": \"x + 8\"}
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 2\", \"new_string\": \"x + 9\"}
        model
        | Both.
        ",
        ],
    );
}

#[test]
fn undone_and_sent_along() {
    story(
        "undone_and_sent_along",
        "A client without tools sends its files along in a new conversation, after a checkout: an accepted change that nobody saved here waits no longer, and the next edit is judged by what the file holds.",
        &[
            CHANGED_IN_CHAT,
            "
        new
        context
        | Files of the chat:
        |
        | src/a.c
        | ```c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | ```
        context assistant
        | Ok.
        user
        | Make a() in src/a.c add 9
        model
        | src/a.c
        | ```c
        | int a(int x) { return x + 9; }
        | int b(int x) { return x + 2; }
        | ```
        ",
        ],
    );
}

#[test]
fn reading_acknowledges_nothing_by_the_letter() {
    story(
        "reading_acknowledges_nothing_by_the_letter",
        "With `etv.reading_acknowledges = false` only the user acknowledges what disk holds.",
        &["policy reading off\n", AGENT_AT_WORK, UNDONE_AND_READ],
    );
}

#[test]
fn follows_by_the_users_standing_word() {
    story(
        "follows_by_the_users_standing_word",
        "With `etv.on_stale = \"follow\"` what the user edits by hand is true with the next prompt that names it.",
        &[
            "policy stale follow\n",
            CHANGED_IN_CHAT,
            "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int c(int x) { return x + 300; }
        user
        | What does a() do?
        ",
        ],
    );
}

#[test]
fn part_of_a_file_is_read() {
    story(
        "part_of_a_file_is_read",
        "The user edits two functions by hand and the agent reads one of them: that one is known again, the other stays STALE, and the third was never touched.",
        &[
            AGENT_AT_WORK,
            "
        disk src/a.c
        | int a(int x) { return x + 100; }
        | int b(int x) { return x + 200; }
        user
        | Look at a() in src/a.c
        call read
        | {\"path\": \"src/a.c\", \"limit\": 1}
        model
        | I read it.
        context tool
        | 1: int a(int x) { return x + 100; }
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 100\", \"new_string\": \"x + 101\"}
        model
        | I change it.
        ",
        ],
    );
}

#[test]
fn a_definition_is_gone_from_what_is_read() {
    story(
        "a_definition_is_gone_from_what_is_read",
        "The user deletes a function by hand and the agent reads the whole file: the function is gone, and that is said once.",
        &[
            AGENT_AT_WORK,
            "
        disk src/a.c
        | int a(int x) { return x + 7; }
        user
        | Look at src/a.c again
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | 1: int a(int x) { return x + 7; }
        again
        model
        | Fine.
        user
        | What is in src/a.c?
        ",
        ],
    );
}

#[test]
fn parallel_edits_are_written_before_the_reply_is_over() {
    story(
        "parallel_edits_are_written_before_the_reply_is_over",
        "A client runs each of three parallel edits as soon as its call is complete: disk that holds what is proposed agrees with it.",
        &[
            AGENT_AT_WORK,
            "
        user
        | Make both add 70
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 7\", \"new_string\": \"x + 70\"}
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 2\", \"new_string\": \"x + 71\"}
        disk src/a.c
        | int a(int x) { return x + 70; }
        | int b(int x) { return x + 2; }
        model
        | Both.
        disk src/a.c
        | int a(int x) { return x + 70; }
        | int b(int x) { return x + 71; }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

/// Three functions that an agent has read and one of which it has changed; then the user changes another one by hand.
const CHANGED_BESIDE: &str = "
        touch
        tools
        disk src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | int c(int x) { return x + 3; }
        user
        | Make a() in src/a.c add 10
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 1\", \"new_string\": \"x + 10\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 2; }
        | int c(int x) { return x + 3; }
        context tool
        | Edit applied.
        again
        model
        | Done.
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 2; }
        | int c(int x) { return x + 300; }
        user
        | Make b() add 20
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 2;\", \"new_string\": \"x + 20;\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int b(int x) { return x + 20; }
        | int c(int x) { return x + 300; }
        context tool
        | Edit applied.
        again
        model
        | Done.
";

#[test]
fn edits_beside_a_change_that_nobody_read() {
    story(
        "edits_beside_a_change_that_nobody_read",
        "The user changes one function by hand and nobody reads it; the agent's next edits are of others, each applies to what is true, and the user's stays the user's.",
        &[
            CHANGED_BESIDE,
            "
        user
        | And a() 11
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 10;\", \"new_string\": \"x + 11;\"}
        model
        | I change it.
        ",
        ],
    );
}

#[test]
fn the_users_change_is_not_the_models() {
    story(
        "the_users_change_is_not_the_models",
        "The model mends a refused edit while a change of the user's that nobody read is in the same file: what it mended becomes true as its own, and no more.",
        &[
            CHANGED_BESIDE,
            "
        user
        | Rewrite a()
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"int a(int x) { return x + 10; }\", \"new_string\": \"int a(int x) { /* ... rest of the code ... */ }\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { /* ... rest of the code ... */ }
        | int b(int x) { return x + 20; }
        | int c(int x) { return x + 300; }
        context tool
        | Edit applied.
        again
        call shell
        | {\"command\": \"sed -i 's/rest/all/' src/a.c\"}
        model
        | I mend it.
        disk src/a.c
        | int a(int x) { return x + 12; }
        | int b(int x) { return x + 20; }
        | int c(int x) { return x + 300; }
        context tool
        | Done.
        again
        ",
        ],
    );
}

#[test]
fn what_was_removed_is_in_no_base() {
    story(
        "what_was_removed_is_in_no_base",
        "The user accepts that a function is gone, and another one's change was never read: no edit applies to the text of what is gone.",
        &[
            CHANGED_BESIDE,
            "
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int c(int x) { return x + 300; }
        user
        | @tslp accept src/a.c::b
        model
        | Fine.
        user
        | And a() 11
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 20;\", \"new_string\": \"x + 21;\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 10; }
        | int c(int x) { return x + 300; }
        context tool
        | Not found.
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 10;\", \"new_string\": \"x + 11;\"}
        model
        | I change it.
        ",
        ],
    );
}

#[test]
fn one_of_two_edits_is_lost() {
    story(
        "one_of_two_edits_is_lost",
        "A client runs two edits of one file at once, and the one that writes last undoes the other: the file counts, the model is told, and its second try applies.",
        &[
            AGENT_AT_WORK,
            "
        user
        | Make both add 70
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 7\", \"new_string\": \"x + 70\"}
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 2\", \"new_string\": \"x + 71\"}
        model
        | Both.
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 71; }
        context tool
        | Edit applied.
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 7;\", \"new_string\": \"x + 70;\"}
        model
        | Once more.
        disk src/a.c
        | int a(int x) { return x + 70; }
        | int b(int x) { return x + 71; }
        context tool
        | Edit applied.
        again
        ",
        ],
    );
}

#[test]
fn a_client_shortens_what_it_showed_before() {
    story(
        "a_client_shortens_what_it_showed_before",
        "A client takes an older result out of the conversation to save room: the conversation goes on, and what the model itself has changed isn't told as somebody else's.",
        &[
            AGENT_AT_WORK,
            "
        user
        | Now b() in src/a.c
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 2;\", \"new_string\": \"x + 20;\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 20; }
        context tool
        | Edit applied.
        again
        model
        | Done.
        shorten 8
        | Done, and outdated.
        user
        | Is src/a.c fine?
        ",
        ],
    );
}

/// The agent's client writes a file without one of its functions, although that was refused.
const GUTTED: &str = "
        user
        | Tidy src/a.c up
        call write
        | {\"path\": \"src/a.c\", \"content\": \"int a(int x) { return x + 7; }\\n\"}
        model
        | I write it.
        disk src/a.c
        | int a(int x) { return x + 7; }
        context tool
        | Written.
        again
        model
        | Done.
";

#[test]
fn refused_and_written() {
    story(
        "refused_and_written",
        "What was refused and is on disk all the same stays refused, however often it is read, in any conversation; the file's other functions are judged as usual.",
        &[
            AGENT_AT_WORK,
            GUTTED,
            "
        new
        user
        | Look at src/a.c
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | 1: int a(int x) { return x + 7; }
        again
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"x + 7\", \"new_string\": \"x + 8\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) { return x + 8; }
        context tool
        | Edit applied.
        user
        | Now b() in src/a.c
        ",
        ],
    );
}

#[test]
fn refused_written_and_accepted() {
    story(
        "refused_written_and_accepted",
        "The user accepts that a function is gone which a refused edit had left out.",
        &[
            AGENT_AT_WORK,
            GUTTED,
            "
        user
        | @tslp accept src/a.c::b
        ",
        ],
    );
}

/// The model guts one of two functions; the client writes it all the same.
const ONE_GUTTED: &str = "
        user
        | Tidy a() in src/a.c up
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    x = x * 2;\\n    x = x - 3;\\n    x = x * 5;\\n    x = x - 7;\\n    x = x * 11;\\n\", \"new_string\": \"    // unchanged\\n\"}
        model
        | I change it.
        disk src/a.c
        | int a(int x) {
        |     // unchanged
        |     return x;
        | }
        | int b(int x) { return x + 2; }
        context tool
        | Edit applied.
        again
        model
        | Done.
";

const LONG: &str = "
        touch
        tools
        disk src/a.c
        | int a(int x) {
        |     x = x * 2;
        |     x = x - 3;
        |     x = x * 5;
        |     x = x - 7;
        |     x = x * 11;
        |     return x;
        | }
        | int b(int x) { return x + 2; }
        user
        | Look at src/a.c
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | 1: int a(int x) {
        | 2:     x = x * 2;
        | 3:     x = x - 3;
        | 4:     x = x * 5;
        | 5:     x = x - 7;
        | 6:     x = x * 11;
        | 7:     return x;
        | 8: }
        | 9: int b(int x) { return x + 2; }
        again
        model
        | Read.
";

#[test]
fn refused_written_and_accepted_in_a_terminal() {
    story(
        "refused_written_and_accepted_in_a_terminal",
        "What the model wrote, and the user accepts in a terminal, wasn't changed outside: the conversation goes on as it is.",
        &[
            LONG,
            ONE_GUTTED,
            "
        command accept src/a.c
        user
        | Now b() in src/a.c
        model
        | Fine.
        user
        | And a()?
        ",
        ],
    );
}

#[test]
fn accepted_in_a_terminal() {
    story(
        "accepted_in_a_terminal",
        "What the user wrote and accepts in a terminal was changed outside, and is told once.",
        &[
            LONG,
            "
        disk src/a.c
        | int a(int x) {
        |     x = x * 2;
        |     x = x - 3;
        |     x = x * 5;
        |     return x;
        | }
        | int b(int x) { return x + 2; }
        command accept src/a.c
        user
        | Now b() in src/a.c
        model
        | Fine.
        user
        | And a()?
        ",
        ],
    );
}

#[test]
fn refused_written_and_asked_about_again() {
    story(
        "refused_written_and_asked_about_again",
        "A refused edit that the file holds is told as refused, once, and not as something that is STALE.",
        &[
            LONG,
            ONE_GUTTED,
            "
        user
        | What does a() in src/a.c do?
        model
        | Nothing.
        user
        | And `src/a.c::a`?
        ",
        ],
    );
}

#[test]
fn deleted_beside_an_agent() {
    story(
        "deleted_beside_an_agent",
        "A file that the user deletes while an agent works is told as deleted, once.",
        &[
            LONG,
            "
        gone src/a.c
        user
        | What is left of src/a.c?
        call read
        | {\"path\": \"src/a.c\"}
        model
        | I read it.
        context tool
        | No such file.
        again
        model
        | It is gone.
        user
        | Was a() in src/a.c?
        model
        | Yes.
        user
        | Then write `src/a.c::b` into src/b.c
        ",
        ],
    );
}

#[test]
fn deleted_with_a_proposal_of_the_whole_file_open() {
    story(
        "deleted_with_a_proposal_of_the_whole_file_open",
        "The user accepts that a file is gone of which the model's whole text was refused: each definition is removed, and the proposal is overruled once.",
        &[
            CHANGED_IN_CHAT,
            "
        user
        | Tidy up src/a.c
        model
        | src/a.c
        | ```c
        | #include <a.h>
        | int a(int x) { return x + 7; }
        | ```
        gone src/a.c
        user
        | @tslp accept src/a.c
        ",
        ],
    );
}

#[test]
fn deleted_by_hand() {
    story(
        "deleted_by_hand",
        "A file that was there and isn't any more is neither shown nor STALE: it is told as deleted, until the user says that it was meant.",
        &[
            CHANGED_IN_CHAT,
            "
        gone src/a.c
        user
        | What do a() and b() do?
        model
        | I can't see them.
        user
        | @tslp accept src/a.c
        model
        | Fine.
        user
        | What do a() and b() do?
        ",
        ],
    );
}

#[test]
fn moved_to_another_place() {
    story(
        "moved_to_another_place",
        "A file that git has renamed is known at its new place as soon as somebody names it.",
        &[
            AGENT_AT_WORK,
            "
        gone src/a.c
        disk src/b.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | Make a() in src/b.c add 8
        call edit
        | {\"path\": \"src/b.c\", \"old_string\": \"x + 7\", \"new_string\": \"x + 8\"}
        model
        | I change it.
        ",
        ],
    );
}

/// aider's `whole` format: the file is in the message, and the client writes the model's listing as the whole file.
const LISTED_IN_PART: &str = "
        full the prompt after a listing that left two functions out
        disk shop.py
        | class Cart:
        |     def add(self, item):
        |         self.items.append(item)
        |         return self
        |
        |
        | def total(cart):
        |     return sum(item.price for item in cart.items)
        |
        |
        | def report(cart):
        |     for item in cart.items:
        |         print(item.name, item.price)
        user
        | *Trust this message as the true contents of these files!*
        | shop.py
        | ```
        | class Cart:
        |     def add(self, item):
        |         self.items.append(item)
        |         return self
        |
        |
        | def total(cart):
        |     return sum(item.price for item in cart.items)
        |
        |
        | def report(cart):
        |     for item in cart.items:
        |         print(item.name, item.price)
        | ```
        |
        | Let `Cart.add` skip an item that is in the cart already.
        model
        | shop.py
        | ```
        | class Cart:
        |     def add(self, item):
        |         if item not in self.items:
        |             self.items.append(item)
        |         return self
        | ```
        disk shop.py
        | class Cart:
        |     def add(self, item):
        |         if item not in self.items:
        |             self.items.append(item)
        |         return self
        context
        | *Trust this message as the true contents of these files!*
        | shop.py
        | ```
        | class Cart:
        |     def add(self, item):
        |         if item not in self.items:
        |             self.items.append(item)
        |         return self
        | ```
        user
        | What does `total` of shop.py return?
";

#[test]
fn a_listing_that_left_two_functions_out() {
    story(
        "a_listing_that_left_two_functions_out",
        "A client writes a listing as the whole file: what it left out is lost, and told with the code.",
        &[LISTED_IN_PART],
    );
}

#[test]
fn a_listing_that_begins_in_the_middle() {
    story(
        "a_listing_that_begins_in_the_middle",
        "A listing that doesn't begin like the file is read as a part of it, until the file turns out to hold nothing else.",
        &[&LISTED_IN_PART.replace(
            "class Cart:\n        |     def add(self, item):\n        |         if",
            "class Basket:\n        |     def add(self, item):\n        |         if",
        )],
    );
}

#[test]
fn a_quote_that_became_the_file() {
    story(
        "a_quote_that_became_the_file",
        "A reply quotes a class as it is, and the client writes that as the whole file: what the quote left out is lost, too.",
        &[&LISTED_IN_PART.replace(
            "        if item not in self.items:\n        |             self.items.append(item)\n",
            "        self.items.append(item)\n",
        )],
    );
}

#[test]
fn two_functions_of_three_without_a_path() {
    story(
        "two_functions_of_three_without_a_path",
        "Code that names no file is written by no client: two functions of three are two functions.",
        &["
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | int b(int x) { return x + 2; }
        | int c(int x) { return x + 3; }
        | ```
        | Let a() and b() add ten more.
        model
        | ```c
        | int a(int x) { return x + 11; }
        | int b(int x) { return x + 12; }
        | ```
        "],
    );
}

#[test]
fn copied_and_gutted() {
    story(
        "copied_and_gutted",
        "A copy is known as soon as it is touched: what an edit of it loses is lost there.",
        &[
            AGENT_AT_WORK,
            "
        disk src/c.c
        | int a(int x) { return x + 7; }
        | int b(int x) { return x + 2; }
        user
        | Tidy src/c.c up
        call write
        | {\"path\": \"src/c.c\", \"content\": \"int a(int x) { return x + 7; }\\n\"}
        model
        | I write it.
        disk src/c.c
        | int a(int x) { return x + 7; }
        context tool
        | Written.
        again
        model
        | Done.
        ",
        ],
    );
}
#[test]
fn deleted_because_the_user_asked() {
    story(
        "deleted_because_the_user_asked",
        "The user asks for a file to be deleted, and it is: nothing of it is true any more.",
        &[
            AGENT_AT_WORK,
            "
        user
        | Delete src/a.c, nobody needs it.
        call bash
        | {\"command\": \"git rm src/a.c\"}
        model
        | I remove it.
        gone src/a.c
        context tool
        | rm 'src/a.c'
        again
        model
        | Done.
        user
        | What does a() do?
        ",
        ],
    );
}

#[test]
fn split_because_the_user_asked() {
    story(
        "split_because_the_user_asked",
        "The user asks for a function to be moved to a file of its own: it is true there, and gone where it was.",
        &[
            AGENT_AT_WORK,
            "
        user
        | Move b() from src/a.c to src/b.c
        call write
        | {\"path\": \"src/b.c\", \"content\": \"int b(int x) { return x + 2; }\\n\"}
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"int b(int x) { return x + 2; }\\n\", \"new_string\": \"\"}
        model
        | I move it.
        disk src/b.c
        | int b(int x) { return x + 2; }
        disk src/a.c
        | int a(int x) { return x + 7; }
        context tool
        | Written.
        context tool
        | Edit applied.
        again
        model
        | Done.
        user
        | What does b() do?
        ",
        ],
    );
}

/// A class of which the second half goes into another file.
const HALF: &str = "
        disk store.go
        | package store
        |
        | type Store struct{ rows map[string]int }
        |
        | func (s *Store) Get(name string) int {
        | \treturn s.rows[name]
        | }
        |
        | func (s *Store) Put(name string, row int) {
        | \tif s.rows == nil {
        | \t\ts.rows = map[string]int{}
        | \t}
        | \ts.rows[name] = row
        | }
        user
        | @tslp accept store.go
        model
        | Fine.
        user
        | Store has become too big, split it into two files.
";

#[test]
fn split_within_one_reply() {
    story(
        "split_within_one_reply",
        "A reply writes a file without a method and another file with it: the method moved, in whichever order the two come.",
        &[
            HALF,
            "
        model
        | store.go
        | ```go
        | package store
        |
        | type Store struct{ rows map[string]int }
        |
        | func (s *Store) Get(name string) int {
        | \treturn s.rows[name]
        | }
        | ```
        |
        | store_put.go
        | ```go
        | package store
        |
        | func (s *Store) Put(name string, row int) {
        | \tif s.rows == nil {
        | \t\ts.rows = map[string]int{}
        | \t}
        | \ts.rows[name] = row
        | }
        | ```
        ",
        ],
    );
}

#[test]
fn split_with_a_part_lost() {
    story(
        "split_with_a_part_lost",
        "The same, but the method comes without its check: it didn't move as it is, so the file that lacks it is refused.",
        &[
            HALF,
            "
        model
        | store.go
        | ```go
        | package store
        |
        | type Store struct{ rows map[string]int }
        |
        | func (s *Store) Get(name string) int {
        | \treturn s.rows[name]
        | }
        | ```
        |
        | store_put.go
        | ```go
        | package store
        |
        | func (s *Store) Put(name string, row int) {
        | \ts.rows[name] = row
        | }
        | ```
        ",
        ],
    );
}
