# The model added a function, the user took the whole change back on disk: the file is true as it
# was pasted, without the new function.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
| ```
| Write `sub`, too.
model
| src/a.c
| ```c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```

back 1
again
