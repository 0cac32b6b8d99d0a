# Of a whole file one function is newer by now, and it alone is named.
law 15.2, 15.4 | Code in words that were said before doesn't take the place of what came to the file since | said_before

disk src/a.c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| src/a.c
| ```c
| #include <stdio.h>
|
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| #include <stdio.h>
|
| int add(int a, int b) { int sum = a; return sum + b; }
|
| int sub(int a, int b) { return a - b; }
back 1
again
