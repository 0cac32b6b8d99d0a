# The user deletes a function by hand and the agent reads the whole file: the function is gone,
# and that is said once.
law 15.5 | What a conversation is shown as disk holds it is acknowledged; what is gone from it is named once | taken_as_shown

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

disk src/a.c
| int a(int x) { return x + 7; }
user
| Look at src/a.c again
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int a(int x) { return x + 7; }
again
model
| Fine.

user
| What is in src/a.c?
