# The same accept in the next turn is a new word of the user's: it takes what disk holds by then.
law 9.1, engine 8 | What the user says again in a new turn acts again

full a notice after the result of a tool, and one about replaced versions

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) { return b + a; }
tools
user
| @tslp accept src/a.c
| Now improve `add`.
call bash
| {"command": "make"}
model
|

disk src/a.c
| int add(int a, int b) { return 0; }
context tool
| done
again
model
| All done.

user
| @tslp accept src/a.c
| Now improve `add`.
model
| Better now.
