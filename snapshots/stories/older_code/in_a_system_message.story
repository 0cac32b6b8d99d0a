# The client's system message is no younger than its history.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

full a marker in a system message

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

new
context system
| You help with this file:
|
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
|
| Its other half:
| ```c:src/b.c
| int other(void) { return 1; }
| ```
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
