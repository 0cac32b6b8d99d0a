# The client gives the model its reply's beginning: the words before it are new. It asks to
# continue: they aren't.

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
context
| @tslp accept src/a.c
| What does `add` do?
context assistant
| It
again
model
| It adds

disk src/a.c
| int add(int a, int b) { return 0; }
back 2
context assistant
| It adds
again
