# A copy is known as soon as it is touched: what an edit of it loses is lost there.

touch
tools
disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Make a() in src/a.c add 7
call edit
| {"path": "src/a.c", "old_string": "x + 1", "new_string": "x + 7"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
context tool
| Edit applied.
again
model
| Done.

disk src/c.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
user
| Tidy src/c.c up
call write
| {"path": "src/c.c", "content": "int a(int x) { return x + 7; }\n"}
model
| I write it.

disk src/c.c
| int a(int x) { return x + 7; }
context tool
| Written.
again
model
| Done.
