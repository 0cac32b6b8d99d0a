# Where more than three definitions are newer, the file is named once.

disk src/a.c
| int a(void) { return 1; }
| int b(void) { return 1; }
| int c(void) { return 1; }
| int d(void) { return 1; }
user
| src/a.c
| ```c
| int a(void) { return 1; }
| int b(void) { return 1; }
| int c(void) { return 1; }
| int d(void) { return 1; }
| ```
| Fine?
model
| Fine.

disk src/a.c
| int a(void) { return 2; }
| int b(void) { return 2; }
| int c(void) { return 2; }
| int d(void) { return 2; }
user
| @tslp accept src/a.c
model
| Noted.

back 3
again
