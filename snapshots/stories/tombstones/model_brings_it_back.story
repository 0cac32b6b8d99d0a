# The model writes a function again that the user has just removed: it stays removed.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| ```
model
| Fine.

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int two(int x) { return x + 2; }
| ```

user
| Show me src/a.c
