# A tombstoned function that the user pastes again lives again.

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| ```
model
| Fine.

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| ```
model
| Fine.

user
| ```c:src/a.c
| int two(int x) { return x + 2; }
| ```
