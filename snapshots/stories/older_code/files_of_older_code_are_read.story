# The prompt names nothing, but its history holds code of a file: what disk holds of it is asked
# before it goes out.
law 15.1, 15.6 | The files of older code are looked at before it goes out

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| Go on.
