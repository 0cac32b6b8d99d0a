# A notice that went out with a prompt whose reply failed goes out again, until a reply has come.
law 8.3 | The notice goes out once, and again only if the reply failed

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { /* ... */ }
| ```

user
| In full, please.
model refused

back 1
retry
model broken
| ```

back 2
user
| Once more.
model
| I can't.

user
| Why?
