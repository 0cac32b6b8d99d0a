# The agent writes a reminder under the user's message between two steps: a reply stands behind it
# all the same.
law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation

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
back 2
context
| @tslp accept src/a.c
| Now improve `add`.
| Remember to run the tests.
context assistant
|
context tool
| done
again
model
| All done.
