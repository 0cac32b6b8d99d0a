# The user changes one function by hand and nobody reads it; the agent's next edits are of others,
# each applies to what is true, and the user's stays the user's.

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

user
| And a() 11
call edit
| {"path": "src/a.c", "old_string": "x + 10;", "new_string": "x + 11;"}
model
| I change it.
