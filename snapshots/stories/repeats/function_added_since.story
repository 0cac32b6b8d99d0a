# A function that the file has by now isn't removed because an older whole file lacks it.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
| int mul(int a, int b) { return a * b; }
user
| src/a.c
| ```c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
| int mul(int a, int b) { return a * b; }
| ```
| Write `sub`, too.
model
| src/a.c
| ```c
| int sub(int a, int b) { return a - b; }
| ```

disk src/a.c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
| int mul(int a, int b) { return a * b; }
| int sub(int a, int b) { return a - b; }
back 1
again
