# The model writes a file that nobody knew and that disk doesn't have: promoted, the base is
# empty.

user
| Write src/new.c with a function `fresh`.
model
| ```c:src/new.c
| #include <new.h>
| int fresh(void) { return 1; }
| ```

user
| Show me fresh()
