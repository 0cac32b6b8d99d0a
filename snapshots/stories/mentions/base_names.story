# A base name counts where it is unique: tree.c is, list.c isn't.

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
| Explain tree.c and list.c.
