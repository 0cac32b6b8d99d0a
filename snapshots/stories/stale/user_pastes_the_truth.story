# Over a STALE entity the user pastes the very version that the State Map holds: that is a
# decision.
law 15.5 | The user alone ends STALE

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
| What does a() do?
model
| I can't see it.

user
| Mine is right:
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| So what does a() do?
