# Two calls, two results, and a new message of the user's behind them: that one acts, the one
# before doesn't.
law 9.1, engine 8 | What the user says again in a new turn acts again

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

disk src/b.c
| int sub(int a, int b) { return a - b; }
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
context tool
| done, too
user
| @tslp accept src/b.c
call bash
| {"command": "make test"}
model
|

context tool
| done
again
model
| All done.
