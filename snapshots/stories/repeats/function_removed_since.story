# The user took a function out and disk agrees: an older paste of it doesn't bring it back.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| int add(int a, int b) { return a + b; }
| int sub(int a, int b) { return a - b; }
user
| src/a.c
| ```c
| int sub(int a, int b) { return a - b; }
| ```
| Do we need `sub`?
model
| No.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Noted.

back 3
again
