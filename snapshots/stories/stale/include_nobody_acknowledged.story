# Disk gets an include. The function is the same, so it is shown and the model's change of it is
# judged as usual; the file as a whole steps down for it.
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
| #include <assert.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Change `a()`
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| And now?
model
| You must decide.

user
| @tslp accept src/a.c
| Change `a()` then
model
| ```c:src/a.c
| int a(int x) { return x + 8; }
| ```

user
| And now?
