# Two paths in the sentence before the fence name neither; the user is told.

user
| I moved this from src/a.c to src/b.c:
| ```c
| int a(void) { return 1; }
| ```
