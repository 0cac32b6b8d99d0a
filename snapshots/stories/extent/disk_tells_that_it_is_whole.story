# A paste without a preamble that defines all that the file on disk defines is the whole file.

disk src/a.c
| int one(void) { return 1; }
| int two(void) { return 2; }
user
| ```c:src/a.c
| int one(void) { return 1; }
| int two(void) { return 22; }
| ```
