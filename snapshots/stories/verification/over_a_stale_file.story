# Going on from a proposal for a function whose file changed elsewhere takes it, as does going on
# from the next one after the file is accepted.
law 15.4 | Staleness is a definition's: what didn't diverge is judged as usual, and the file as a whole steps down for it | part_replaced

policy profile strict
policy audit off

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Keep this.
model
| Kept.

user
| Make `a()` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

disk src/a.c
| #include <assert.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Now change `a()` to take a long.
model
| I can't.

user
| @tslp accept src/a.c
| Now change `a()` to take a long.
model
| ```c:src/a.c
| int a(int x) { return x + 11; }
| ```

user
| Make `a()` take a long.
model
| ```c:src/a.c
| long a(long x) { return x + 11; }
| ```
