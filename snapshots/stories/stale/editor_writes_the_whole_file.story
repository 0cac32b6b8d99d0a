# The model's whole file is true and not written yet; its next part replaces that part, before the
# editor has written anything and after.

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

user
| Change `a()` in src/a.c
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
| ```

user
| Now change `b()`
model
| ```c:src/a.c
| int b(int x) { return x + 8; }
| ```

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
user
| I saved it. Change `b()`
model
| ```c:src/a.c
| int b(int x) { return x + 9; }
| ```

user
| What is in src/a.c?
