# The user accepts that a function is gone, and another one's change was never read: no edit
# applies to the text of what is gone.

touch
tools
disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| int c(int x) { return x + 3; }
user
| Make a() in src/a.c add 10
call edit
| {"path": "src/a.c", "old_string": "x + 1", "new_string": "x + 10"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 2; }
| int c(int x) { return x + 3; }
context tool
| Edit applied.
again
model
| Done.

disk src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 2; }
| int c(int x) { return x + 300; }
user
| Make b() add 20
call edit
| {"path": "src/a.c", "old_string": "x + 2;", "new_string": "x + 20;"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 20; }
| int c(int x) { return x + 300; }
context tool
| Edit applied.
again
model
| Done.

disk src/a.c
| int a(int x) { return x + 10; }
| int c(int x) { return x + 300; }
user
| @tslp accept src/a.c::b
model
| Fine.

user
| And a() 11
call edit
| {"path": "src/a.c", "old_string": "x + 20;", "new_string": "x + 21;"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 10; }
| int c(int x) { return x + 300; }
context tool
| Not found.
again
call edit
| {"path": "src/a.c", "old_string": "x + 10;", "new_string": "x + 11;"}
model
| I change it.
