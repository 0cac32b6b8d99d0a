//! Which tracked entities a prompt names.

use super::check;

const PASTE: &str = "
        user
        | ```c:src/list.c
        | int push(int x) { return x + 1; }
        | int list_len(int x) { return x + 2; }
        | ```
        | ```c:lib/list.c
        | int lib_len(int x) { return x + 3; }
        | ```
        | ```c:src/tree.c
        | int push(int x) { return x + 4; }
        | int grow(int x) { return x + 5; }
        | ```
        model
        | Fine.
        new
";

#[track_caller]
fn asked(name: &str, about: &str, prompt: &str) {
    check(name, about, &format!("{PASTE}user\n| {prompt}\n"));
}

#[test]
fn plain_words() {
    asked(
        "mentions__plain_words",
        "A plain word that happens to be a symbol's name doesn't mean the symbol.",
        "Please push the branch and grow the tests.",
    );
}

#[test]
fn kinds_of_definitions() {
    asked(
        "mentions__kinds_of_definitions",
        "A plain word means the symbol where the words around it call it one: the function, method or class of that name.",
        "Please add a comment to the grow function.",
    );
}

#[test]
fn kind_in_front() {
    asked(
        "mentions__kind_in_front",
        "The kind may also come first, and two names may share it.",
        "What does function grow do, and what about the push and list_len functions?",
    );
}

#[test]
fn shown_lately() {
    check(
        "mentions__shown_lately",
        "A plain word means what the prompt before showed under that name, and nothing that it didn't show.",
        &format!(
            "{PASTE}
        user
        | Explain grow() of src/tree.c.
        model
        | It grows.
        user
        | Why does grow add five, and does push as well?
        model
        | Because.
        user
        | Thank you.
        model
        | Fine.
        user
        | Let it grow.
        "
        ),
    );
}

#[test]
fn marked_words() {
    asked(
        "mentions__marked_words",
        "Backticks, a parenthesis and an underscore each make a word mean the symbol.",
        "Explain `grow`, grow() and list_len.",
    );
}

#[test]
fn ambiguous_symbol() {
    asked(
        "mentions__two_of_one_name",
        "A name that stands for two entities shows both.",
        "Explain `push`.",
    );
}

#[test]
fn symbol_in_a_named_file() {
    asked(
        "mentions__symbol_in_a_named_file",
        "Beside a named file the name means that file's symbol alone; the file is shown as well.",
        "Explain push() of src/tree.c.",
    );
}

#[test]
fn qualified() {
    asked(
        "mentions__qualified",
        "`path::symbol` names exactly one.",
        "Explain src/tree.c::push please.",
    );
}

#[test]
fn base_names() {
    asked(
        "mentions__base_names",
        "A base name counts where it is unique: tree.c is, list.c isn't.",
        "Explain tree.c and list.c.",
    );
}

#[test]
fn paths_of_nothing() {
    asked(
        "mentions__paths_of_nothing",
        "Unknown, absolute and escaping paths and URLs name nothing.",
        "See https://src/tree.c, ../src/tree.c, /etc/src/tree.c, src/none.c and SRC/TREE.C.",
    );
}

#[test]
fn too_common() {
    let pastes: String = (0..9)
        .map(|file| {
            format!(
                "| ```c:src/f{file}.c\n| int common_name(int x) {{ return x + {file}; }}\n| ```\n"
            )
        })
        .collect();
    check(
        "mentions__too_common",
        "A name that stands for more than eight entities means none of them.",
        &format!("user\n{pastes}model\n| Fine.\nnew\nuser\n| Explain common_name.\n"),
    );
}

const FOLLOWED: &str = r#"
        disk src/a.c
        | int one(int x) {
        |     return x + 1;
        | }
        |
        | int other(int x) {
        |     return x - 1;
        | }
        user
        | @tslp accept src/a.c
        model
        | Noted.
        user
        | Let `one` in src/a.c add two.
        model
        | ```c:src/a.c
        | int one(int x) {
        |     return x + 2;
        | }
        | ```
        user
        | Now make it log what it returns.
        model
        | ```c:src/a.c
        | int one(int x) {
        |     log_int(x + 2);
        |     return x + 2;
        | }
        | ```
        user
        | And say why in a comment.
"#;

#[test]
fn a_follow_up_in_a_window() {
    check(
        "mentions__a_follow_up_in_a_window",
        "Who names nothing goes on about what was named last: its code goes out, and the reply counts.",
        &format!("full what the prompts hold\n        policy history window{FOLLOWED}"),
    );
}

#[test]
fn a_follow_up_in_the_clients_history() {
    check(
        "mentions__a_follow_up_in_the_clients_history",
        "What the client's messages still show isn't shown again, and is the prompt's all the same.",
        &format!("full what the prompts hold\n        policy history client{FOLLOWED}"),
    );
}

#[test]
fn a_name_in_a_file_is_that_part_of_it() {
    asked(
        "mentions__a_name_in_a_file",
        "A name beside the path of its file means that part alone.",
        "The function `grow` in src/tree.c is slow.",
    );
}

#[test]
fn places_of_other_machines() {
    for place in [
        "File \"/app/src/tree.c\", line PLACE, in run\n|     return list_len(x)",
        "ERROR in ./src/tree.c PLACE:4 unexpected",
        "/home/runner/work/src/tree.c:PLACE: error",
    ] {
        let story = format!(
            "full places\n{PASTE}user\n| {}\n",
            place.replace("PLACE", "2")
        );
        let end = tslp_snapshots::golden::play(&story);
        assert!(end.contains("src/tree.c::"), "{place}: {end}");
        assert!(!end.contains("list_len v1 mentioned"), "{place}: {end}");
    }
}
