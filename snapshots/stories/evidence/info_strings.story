# Five spellings of a path in a fence's info string, all CONFIRMED; in the last a range makes a
# fragment.
law 4.1 (1) | Path evidence and a clean parse: CONFIRMED | ast_match
law 4.1 | The syntax tree first

user
| ```c:src/a.c
| int a(void) { return 1; }
| ```
| ```c src/b.c
| int b(void) { return 2; }
| ```
| ```src/c.c
| int c(void) { return 3; }
| ```
| ```c title="src/d.c"
| int d(void) { return 4; }
| ```
| ```c src/e.c (10-12)
| #include <e.h>
| int e(void) { return 5; }
| ```
