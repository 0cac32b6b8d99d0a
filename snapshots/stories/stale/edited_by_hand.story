# A file edited by hand: the changed function is withheld with a notice, the other is still shown.
law 15.4 | STALE: not shown, no base, no promotion | stale
law 15.1 | Never unaware of divergence
law 15.2 | Disk verifies and never changes the state by itself
law 15.4 | STALE where the file exists and differs; derived, not stored
law 15.4 | Not hydrated
law 15.4 | A STATE NOTICE

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
| What do a() and b() do?
