# A bare base name stands for the one tracked file that bears it; when two bear it, it is a path
# of its own.

user
| ```c:src/a.c
| int a(void) { return 1; }
| ```
model
| a.c
| ```c
| int a(void) { return 2; }
| ```

user
| ```c:lib/a.c
| int lib_a(void) { return 1; }
| ```
model
| a.c
| ```c
| int a(void) { return 3; }
| ```
