# The user accepts that a file is gone of which the model's whole text was refused: each
# definition is removed, and the proposal is overruled once.

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
| Tidy up src/a.c
model
| src/a.c
| ```c
| #include <a.h>
| int a(int x) { return x + 7; }
| ```

gone src/a.c
user
| @tslp accept src/a.c
