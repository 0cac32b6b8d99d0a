# An accepted change that isn't saved stays the current version while the user edits another
# function of the file; that one is STALE.

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
| int a(int x) { return x + 1; }
| int b(int x) { return x + 200; }
user
| What do a() and b() do?
