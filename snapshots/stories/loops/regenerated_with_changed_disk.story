# The whole turn again, from the user's message on: the accept was for another file than the one
# that the agent has left.
law 15.4, engine 8 | A regenerated turn takes back what nobody saved, and nothing that disk has held only since

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

back 3
again
model
| What is to be improved?
