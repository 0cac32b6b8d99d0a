# `path::symbol` names exactly one.
law 8.1 | What the prompt names is shown | mentioned

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
user
| Explain src/tree.c::push please.
