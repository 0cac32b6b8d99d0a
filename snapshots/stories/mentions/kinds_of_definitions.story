# A plain word means the symbol where the words around it call it one: the function, method or
# class of that name.
law 8.1 | What the prompt names is shown: what it calls a function, method, class or the like, and a plain word that the prompt before showed under that name; other prose brings nothing | mentioned

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
| Please add a comment to the grow function.
