# The model has replaced the pasted code, and its client has written that to disk: the paste in
# the same message, sent again, doesn't bring the old code back. What is true by now is shown
# beside it.
law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation
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
call write_file
| {"path": "src/a.c", "content": "int add(int a, int b) { int sum = a; return sum + b; }\n"}
model
|

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
context tool
| written
again
call bash
| {"command": "make test"}
model
| Testing.

context tool
| passed
again
model
| All done.
