# The user put the old file back before they said the same again: disk holds the paste, and it is
# true.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
disk src/a.c
| int add(int a, int b) { return a + b; }
new
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
