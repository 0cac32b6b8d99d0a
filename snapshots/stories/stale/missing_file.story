# A deleted file isn't STALE, and its code isn't shown as if it existed: it is told as deleted.
law 15.8 | A deleted file is told as deleted; the user's word resolves it | file_gone
law 15.4 | STALE where the file exists and differs; derived, not stored

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

gone src/a.c
user
| What does a() do?
