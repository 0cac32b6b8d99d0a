# A tool has written other code over the pasted one: the next step tells the model, and asks the
# user.
law 15.4 | Code that a message repeats is shown as it is true now, or said to be STALE

tools
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Make it faster.
call bash
| {"command": "sed"}
model
|

disk src/a.c
| int add(int a, int b) { return 0; }
context tool
| done
again
model
| All done.
