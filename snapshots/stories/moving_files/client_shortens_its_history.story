# A client takes an older result out of the conversation to save room: the conversation goes on,
# and what the model itself has changed isn't told as somebody else's.

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
| Now b() in src/a.c
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
again
call edit
| {"path": "src/a.c", "old_string": "x + 2;", "new_string": "x + 20;"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 20; }
context tool
| Edit applied.
again
model
| Done.

shorten 8
| Done, and outdated.
user
| Is src/a.c fine?
