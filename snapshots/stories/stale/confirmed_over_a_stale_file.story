# The user confirms the model's change of a function over what disk holds: an explicit act, which
# the file as a whole gives way to.
law 15.5 | The user's own acts go over STALE: a part that the user pastes or confirms takes the file's place | part_replaced
law 15.5 | The user alone ends STALE

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

disk src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
user
| Change `a()`
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| @tslp confirm src/a.c::a
| What is in src/a.c?
