# The user may shrink a function at will: parity doesn't bind the write-head.
law 6 B, 9.1 | The user's own code is true at once | write_head
law 9.1 | The user always wins

user
| ```c:src/a.c
| int a(int x) {
|     if (x > 10) return 10;
|     if (x < 0) return 0;
|     return x;
| }
| ```
model
| Fine.

user
| Shorter:
| ```c:src/a.c
| int a(int x) { return x; }
| ```
