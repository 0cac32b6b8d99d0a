# Both functions were changed, one was put back on disk: what the paste says of that one counts.

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
user
| Now improve `sub`.
model
| src/a.c
| ```c
| int sub(int a, int b) { int rest = a; return rest - b; }
| ```

back 3
again
