# The file got an include while the audit ran: the function is the same, so the audit's grant
# counts.
law 15.4 | Staleness is a definition's: what didn't diverge is judged as usual, and the file as a whole steps down for it | part_replaced

policy profile strict

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Make `a` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

disk src/a.c
| #include <assert.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
audit
| {"entity": "src/a.c::a", "status": "completed"}
