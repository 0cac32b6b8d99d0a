# The user's paste supersedes what the model promoted and discards what it proposed.
law 9.1 | PROPOSED → TOMBSTONED: the user supplied the code | proposal_overruled
law 6 | Gate B: the user's code is true at once
law 9.1 | What the model made before is superseded

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

user
| Again.
model
| ```c:src/a.c
| int a(int x) { /* ... */ }
| ```

user
| No, it is
| ```c:src/a.c
| int a(int x) { return x + 3; }
| ```
