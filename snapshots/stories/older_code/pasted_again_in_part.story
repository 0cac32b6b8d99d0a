# A function pasted again out of a file that is known is no new capture, and withheld with it.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

policy history client

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

user
| I mean this one:
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| I see.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
