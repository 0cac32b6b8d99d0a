# With `etv.on_stale = "follow"` what the user edits by hand is true with the next prompt that
# names it.
law 15.5 | The user's standing word: what disk holds is true | write_head

policy stale follow

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
| int a(int x) { return x + 100; }
| int c(int x) { return x + 300; }
user
| What does a() do?
