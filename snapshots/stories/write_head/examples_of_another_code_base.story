# Messages that a client marks as examples of another code base are never captured.
law engine 7 | A client's examples of another code base are never captured

context
| src/example.c
| ```c
| int example(void) { return 1; }
| ```
context assistant
| Ok.
context
| I switched to a new code base. Please don't consider the above files.
context assistant
| Ok.
user
| src/a.c
| ```c
| int a(int x) { return x; }
| ```
