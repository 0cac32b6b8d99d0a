# Only functions are known of the file: one that disk holds as it is true can be changed, whatever
# else changed there.
law 15.4 | Of a file that isn't known as a whole, what disk holds as it is true can be changed

disk src/a.c
| #include <stdio.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| int c(int x) { return x + 3; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

disk src/a.c
| #include <assert.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 200; }
| int c(int x) { return x + 3; }
user
| Change `a()`
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```
