# A path alone on the line before the fence is evidence enough for the model, however it is
# decorated.
law 4.1 (1) | Path evidence and a clean parse: CONFIRMED | ast_match

user
| Write two files.
model
| ### `src/a.c`
|
| ```c
| int a(void) { return 1; }
| ```
| **File: src/b.c:**
| ```c
| int b(void) { return 2; }
| ```
