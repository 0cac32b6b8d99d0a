# Code that the user pastes for a deleted file is true.

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
| ```c:src/a.c
| int add(int a, int b) { return 2 + a + b; }
| ```
