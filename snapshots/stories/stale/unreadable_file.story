# A file that can't be read is never fine: nothing of it is shown, the model is blocked, the
# notice says why.
law engine 8 | A file that can't be read is never fine | disk_unreadable

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

locked src/a.c
user
| What does a() do?
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| And now?
