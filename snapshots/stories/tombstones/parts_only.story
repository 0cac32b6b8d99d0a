# A file known only by fragments: a whole paste that lacks one of them removes it.

full the tombstones

user
| ```c:src/a.c
| int one(int x) { return x + 1; }
| ```
| ```c:src/a.c
| int two(int x) { return x + 2; }
| ```
model
| Fine.

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 10; }
| ```
