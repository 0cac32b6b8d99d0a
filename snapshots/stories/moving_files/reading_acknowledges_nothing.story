# With `profile = "strict"` only the user acknowledges what disk holds.
law 15.5 | What a conversation is shown as disk holds it is acknowledged; what is gone from it is named once

policy profile strict

touch
tools
disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Look at src/a.c
call read
| {"path": "src/a.c"}
model
| I read it.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
context tool
| 1: int a(int x) { return x + 7; }
| 2: int b(int x) { return x + 2; }
again
model
| It adds 7.

user
| @tslp accept src/a.c
