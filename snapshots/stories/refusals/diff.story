# A diff isn't code of the file that it names.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| Change a()
model
| ```diff:src/a.c
| -int a(int x) { return x + 1; }
| +int a(int x) { return x + 7; }
| ```
