# A place in a file on another machine means the definition there.

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
| File "/app/src/tree.c", line 2, in run
|     return list_len(x)
model
| I see.

new
user
| ERROR in ./src/tree.c 2:4 unexpected
model
| I see.

new
user
| /home/runner/work/src/tree.c:2: error
