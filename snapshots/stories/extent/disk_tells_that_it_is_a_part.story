# A paste with an include line that has only one of the four functions on disk is a fragment all
# the same.
law 9.2 | A fragment tombstones nothing

disk src/a.c
| #include <a.h>
| int one(void) { return 1; }
| int two(void) { return 2; }
| int three(void) { return 3; }
| int four(void) { return 4; }
user
| ```c:src/a.c
| int one(void) { return 1; }
| int two(void) { return 2; }
| int three(void) { return 3; }
| int four(void) { return 4; }
| ```
model
| Fine.

user
| ```c:src/a.c
| #include <a.h>
| int one(void) { return 11; }
| ```
