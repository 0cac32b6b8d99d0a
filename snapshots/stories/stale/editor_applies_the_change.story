# After a promotion disk still holds the older version: the new one is shown all the same, as it
# is once the editor has written it.
law 15.4 | An accepted change that isn't saved yet is current; two windows are warned

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| Show me a()
model
| I can't.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
user
| I saved it. Show me a()
