# With `etv.reading_acknowledges = false` only the user acknowledges what disk holds.
law 15.5 | What a conversation is shown as disk holds it is acknowledged; what is gone from it is named once

policy reading off

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
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
new
user
| Look at src/a.c
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int a(int x) { return x + 1; }
| 2: int b(int x) { return x + 2; }
again
