# The user pastes a part of a STALE file: true at once, and the file as a whole gives way to its
# parts.
law 15.5 | The user's own acts go over STALE: a part that the user pastes or confirms takes the file's place | part_replaced

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

disk src/a.c
| #include <assert.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 3; }
| ```
| What is in src/a.c?
