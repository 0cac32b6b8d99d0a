# The file stepped down for a function: an edit that begins above another one is one of what the
# file was, with its true functions.
law 15.4 | A file that stepped down is edited as what it was, with the true definitions in their places | edit_applied

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
| #define N 9
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| Change b()
model
| src/a.c
| ```
| <<<<<<< SEARCH
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
| =======
| int a(int x) { return x + 7; }
| int b(int x) { return x + 5; }
| >>>>>>> REPLACE
| ```
