# Code that has become STALE is withheld from older messages too, the user's block as well as the
# model's copy.
law 15.6 | The model never sees stale code, in older messages neither

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
| Repeat a()
model
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```

disk src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
user
| What does a() do?
