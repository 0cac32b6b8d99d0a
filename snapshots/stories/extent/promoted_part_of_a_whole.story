# When the model changes one function by itself, the file with that function in it is true as a
# whole.

user
| ```c:src/a.c
| #include <a.h>
| int one(void) { return 1; }
| int two(void) { return 2; }
| ```
model
| ```c:src/a.c
| int one(void) { return 11; }
| ```

user
| Show me src/a.c
