# An absolute path inside the workspace, backslashes and `./` all come to the same relative path.
law engine 4 | Paths are normalised; absolute ones inside the workspace become relative

user
| ```c:/work/space/src/a.c
| int a(void) { return 1; }
| ```
model
| ```c:./src/../src/a.c
| int a(void) { return 2; }
| ```

user
| ```c:src\a.c
| int a(void) { return 3; }
| ```
