# What a tool read of a file that nothing is known of is that file's, and a diff that it returns
# says what changed: both stay.

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

new
tools
user
| Read the copies and show me what has changed.
call read_file
| {"path": "vendor/a.c"}
call read_file
| {"path": "/elsewhere/src/a.c"}
call diff
| {}
model
| Reading.

context tool
| int add(int a, int b) { return a + b; }
context tool
| int add(int a, int b) { return a + b; }
context tool
| --- a/src/a.c
| +++ b/src/a.c
| @@ -1,3 +1,3 @@
| -int add(int a, int b) { return a + b; }
| +int add(int a, int b) { return a + b + 1; }
|
|  int sub(int a, int b) { return a - b; }
context assistant
| I have read them.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
