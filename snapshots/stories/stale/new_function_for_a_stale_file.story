# The model brings a new function into a file of which another function is STALE: it is judged as
# usual; pasting the file without it removes it.
law 15.4 | Staleness is a definition's: what didn't diverge is judged as usual, and the file as a whole steps down for it | part_replaced

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
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
user
| Add a function c to src/a.c
model
| ```c:src/a.c
| int c(int x) { return x * x; }
| ```

user
| Then as an edit
model
| src/a.c
| ```
| <<<<<<< SEARCH
| int b(int x) { return x + 2; }
| =======
| int b(int x) { return x + 2; }
| int c(int x) { return x * x; }
| >>>>>>> REPLACE
| ```

user
| This is my file:
| ```c:src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
| ```
model
| ```c:src/a.c
| int c(int x) { return x * x; }
| ```
