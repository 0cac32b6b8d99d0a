# A client runs two edits of one file at once, and the one that writes last undoes the other: the
# file counts, the model is told, and its second try applies.
law 15.2 | A change that an agent's client has carried out and disk doesn't hold isn't true; the model is told where nobody else said it | change_not_saved

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
model
| Both.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 71; }
context tool
| Edit applied.
again
call edit
| {"path": "src/a.c", "old_string": "x + 7;", "new_string": "x + 70;"}
model
| Once more.

disk src/a.c
| int a(int x) { return x + 70; }
| int b(int x) { return x + 71; }
context tool
| Edit applied.
again
