# Once disk has held an accepted change, the older version there is an undo: STALE, not waiting to
# be saved.
law 15.4 | Disk went back to a version before | disk_holds_superseded

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

user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
user
| I saved it. What does a() do?
model
| It adds 7.

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
new
user
| And a() now?
