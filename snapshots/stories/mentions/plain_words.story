# A plain word that happens to be a symbol's name doesn't mean the symbol.
law 8.1 | What the prompt names is shown: what it calls a function, method, class or the like, and a plain word that the prompt before showed under that name; other prose brings nothing
law 8.1 | Names that stand in the State Map are looked for in every prompt

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
| Please push the branch and grow the tests.
