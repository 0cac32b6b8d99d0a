# Unknown, absolute and escaping paths and URLs name nothing.

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
| See https://src/tree.c, ../src/tree.c, /etc/src/tree.c, src/none.c and SRC/TREE.C.
