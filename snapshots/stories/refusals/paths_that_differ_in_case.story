# A path that differs from a known one in case alone may be the same file: nothing is guessed, the
# user is told.
law engine 4 | A path that differs from a tracked one in case alone is asked about | path_case_differs

full the notice about code of the user's that was not taken

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| ```c:src/A.c
| int a(int x) { return x + 2; }
| ```
