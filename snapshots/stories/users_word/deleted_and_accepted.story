# `accept` of a deleted file tombstones it.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Done.

gone src/a.c
user
| What does `add` do?
model
| ```c:src/a.c
| int add(int a, int b) { return b + a; }
| ```

user
| @tslp accept src/a.c
