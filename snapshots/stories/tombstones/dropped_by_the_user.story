# The user pastes the whole file without a function: it is tombstoned and no longer hydrated.
law 9.2 | AUTHORITATIVE → TOMBSTONED: an update of the whole file left it out | omitted_by_update
law 5 | TOMBSTONED is what an authoritative update took out
law 9.2 | An omitted symbol is TOMBSTONED
law 9.2 | Removed from hydration

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| int three(int x) { return x + 3; }
| ```
model
| Fine.

user
| I removed it:
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| ```
model
| Fine.

user
| What did three() do? And two()?
