# What was refused and is on disk all the same stays refused, however often it is read, in any
# conversation; the file's other functions are judged as usual.
law 15.5 | What was refused never becomes true by being read | disk_holds_refused

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
| Tidy src/a.c up
call write
| {"path": "src/a.c", "content": "int a(int x) { return x + 7; }\n"}
model
| I write it.

disk src/a.c
| int a(int x) { return x + 7; }
context tool
| Written.
again
model
| Done.

new
user
| Look at src/a.c
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int a(int x) { return x + 7; }
again
call edit
| {"path": "src/a.c", "old_string": "x + 7", "new_string": "x + 8"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 8; }
context tool
| Edit applied.
user
| Now b() in src/a.c
