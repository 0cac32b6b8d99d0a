# A client's library repeats a failed request: the same episode, nothing recorded twice.

full nothing is on record twice

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model refused

back 1
retry
model
| Fine.

user
| Show me a()
