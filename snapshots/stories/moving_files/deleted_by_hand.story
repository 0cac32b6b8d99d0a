# A file that was there and isn't any more is neither shown nor STALE: it is told as deleted,
# until the user says that it was meant.
law 15.8 | A deleted file is told as deleted; the user's word resolves it | file_gone, deletion_accepted

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

gone src/a.c
user
| What do a() and b() do?
model
| I can't see them.

user
| @tslp accept src/a.c
model
| Fine.

user
| What do a() and b() do?
