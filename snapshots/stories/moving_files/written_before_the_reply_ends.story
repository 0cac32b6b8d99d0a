# A client runs each of three parallel edits as soon as its call is complete: disk that holds what
# is proposed agrees with it.
law 15.2 | Disk that holds what is proposed agrees with it

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

user
| Make both add 70
call edit
| {"path": "src/a.c", "old_string": "x + 7", "new_string": "x + 70"}
call edit
| {"path": "src/a.c", "old_string": "x + 2", "new_string": "x + 71"}
disk src/a.c
| int a(int x) { return x + 70; }
| int b(int x) { return x + 2; }
model
| Both.

disk src/a.c
| int a(int x) { return x + 70; }
| int b(int x) { return x + 71; }
context tool
| Edit applied.
again
