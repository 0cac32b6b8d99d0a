# A function that was accepted with its file is STALE when it goes.

disk src/a.c
| int add(int a, int b) { return a + b; }
| int sub(int a, int b) { return a - b; }
user
| @tslp accept src/a.c
model
| Fine.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| What does `sub` do?
