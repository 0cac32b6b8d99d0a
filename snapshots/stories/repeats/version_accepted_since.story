# Disk holds what the user accepted after the words, and the model's change of that waits to be
# written: the words don't undo it.

disk src/a.c
| int add(int a, int b) { return b + a; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| Noted.

user
| @tslp accept src/a.c::add
| No, keep mine.
model
| Noted.

new
user
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

new
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
