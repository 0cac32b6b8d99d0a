# A proposal whose base went STALE is dropped and not shown.

policy history window
policy profile strict

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Done.

user
| Make `add` safe.
model
| ```c:src/a.c
| int add(int a, int b) { return a > 9 ? 0 : a + b; }
| ```

disk src/a.c
| int add(int a, int b) { return a - b; }
user
| And `add` now?
