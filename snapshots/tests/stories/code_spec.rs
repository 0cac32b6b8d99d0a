//! The user's rules for code that models write (docs/repair.md).

use super::check;

#[test]
fn broken_and_kept() {
    check(
        "code_spec__broken_and_kept",
        "Code that breaks rules isn't taken and is told line by line; what the file did before is no fault of the model's, and code that keeps the rules is taken.",
        "
        policy spec deny import: os, re; forbid call: eval; names: snake_case
        full a notice that names the broken rules by line
        user
        | ```python:src/solver.py
        | import re
        |
        | def solveAll(text):
        |     return [eval(word) for word in re.split(' ', text)]
        | ```
        | Let solveAll skip empty words.
        model
        | ```python:src/solver.py
        | import re
        | import os
        |
        | def skipEmpty(words):
        |     os.write(2, b'words')
        |     return [word for word in words if word]
        |
        | def solveAll(text):
        |     return [eval(word) for word in skipEmpty(re.split(' ', text))]
        | ```
        user
        | Once more, please.
        model
        | ```python:src/solver.py
        | import re
        |
        | def skip_empty(words):
        |     return [word for word in words if word]
        |
        | def solveAll(text):
        |     return [eval(word) for word in skip_empty(re.split(' ', text))]
        | ```
        ",
    );
}

#[test]
fn one_block_of_one_file() {
    check(
        "code_spec__one_block_of_one_file",
        "Where the rules want one block of one file, a reply with two is refused, and so is another file; the user confirms it all the same.",
        "
        policy spec one block; file: src/a.c
        user
        | Write twice() in src/a.c and thrice() in src/b.c.
        model
        | ```c:src/a.c
        | int twice(int x) { return x + x; }
        | ```
        | ```c:src/b.c
        | int thrice(int x) { return x + x + x; }
        | ```
        user
        | Only thrice() then.
        model
        | ```c:src/b.c
        | int thrice(int x) { return x + x + x; }
        | ```
        user
        | @tslp confirm src/b.c::thrice
        model
        | Fine.
        user
        | And twice().
        model
        | ```c:src/a.c
        | int twice(int x) { return x + x; }
        | ```
        ",
    );
}

#[test]
fn an_agents_write() {
    check(
        "code_spec__an_agents_write",
        "An agent's edit that breaks a rule isn't taken, though the client has made it; the model is told with the tool's result, by the file's lines.",
        "
        policy spec forbid call: gets
        disk src/a.c
        | #include <stdio.h>
        |
        | int ask(char *line)
        | {
        |     return fgets(line, 80, stdin) != 0;
        | }
        tools
        touch
        user
        | Simplify ask() in src/a.c.
        call edit
        | {\"path\": \"src/a.c\", \"old_string\": \"    return fgets(line, 80, stdin) != 0;\", \"new_string\": \"    return gets(line) != 0;\"}
        model
        | I edit it.
        disk src/a.c
        | #include <stdio.h>
        |
        | int ask(char *line)
        | {
        |     return gets(line) != 0;
        | }
        context tool
        | Edited.
        again
        model
        | Done.
        ",
    );
}
