# With its include line the paste is the whole file: both functions and the file itself become
# true.

full the code of a whole file

user
| ```c:src/a.c
| #include <a.h>
|
| int one(void) { return 1; }
|
| int two(void) { return 2; }
| ```
model
| Fine.

user
| Show me src/a.c
