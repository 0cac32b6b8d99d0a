# The user asks for a file to be deleted, and it is: nothing of it is true any more.

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
| Delete src/a.c, nobody needs it.
call bash
| {"command": "git rm src/a.c"}
model
| I remove it.

gone src/a.c
context tool
| rm 'src/a.c'
again
model
| Done.

user
| What does a() do?
