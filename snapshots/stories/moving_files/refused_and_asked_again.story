# A refused edit that the file holds is told as refused, once, and not as something that is STALE.

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
| {"path": "src/a.c"}
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

user
| Tidy a() in src/a.c up
call edit
| {"path": "src/a.c", "old_string": "    x = x * 2;\n    x = x - 3;\n    x = x * 5;\n    x = x - 7;\n    x = x * 11;\n", "new_string": "    // unchanged\n"}
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

user
| What does a() in src/a.c do?
model
| Nothing.

user
| And `src/a.c::a`?
