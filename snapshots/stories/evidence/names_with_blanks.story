# A line of words above a fence is a name with blanks where such a file is known, and else no name:
# its last word names no other file.

user
| ```c:my.c
| int f(void) { return 1; }
| ```
model
| Fine.

user
| my my.c
| ```c
| int g(void) { return 1; }
| ```
| **my my.c**
|
| int g(void) { return 2; }
model
| Fine.

user
| Write it.
call write
| {"path": "my my.c", "content": "int g(void) { return 3; }\n"}
model
| I write it.

user
| `my my.c`
| ```c
| int g(void) { return 4; }
| ```
| The bug is in my.c
| ```c
| int f(void) { return 2; }
| ```
| Make g() return 5.
model
| my my.c
| ```
| int g(void) { return 5; }
| ```
