# A shell command after a path is not the file's code.
law 4.1 (4) | No grammar and no pattern reads the language | no_grammar
law 8.5 | What tools print is recorded as a message, or as evidence, and is no code | no_grammar
law 4.1 | Else UNRESOLVED
law 8.5 | They never advance state

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| Change a()
model
| src/a.c
| ```bash
| int a(int x) { return x + 7; }
| ```
