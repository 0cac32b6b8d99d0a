# The model mends a refused edit while a change of the user's that nobody read is in the same
# file: what it mended becomes true as its own, and no more.

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
| Rewrite a()
call edit
| {"path": "src/a.c", "old_string": "int a(int x) { return x + 10; }", "new_string": "int a(int x) { /* ... rest of the code ... */ }"}
model
| I change it.

disk src/a.c
| int a(int x) { /* ... rest of the code ... */ }
| int b(int x) { return x + 20; }
| int c(int x) { return x + 300; }
context tool
| Edit applied.
again
call shell
| {"command": "sed -i 's/rest/all/' src/a.c"}
model
| I mend it.

disk src/a.c
| int a(int x) { return x + 12; }
| int b(int x) { return x + 20; }
| int c(int x) { return x + 300; }
context tool
| Done.
again
