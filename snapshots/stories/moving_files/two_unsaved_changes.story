# A second change is judged against the first one, which isn't saved yet, and both lack nothing
# but the saving.
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
| Add a function c() below a(), and make a() add 8
model
| ```c:src/a.c
| int a(int x) { return x + 8; }
| int c(int x) { return x + 3; }
| ```

user
| Show me a() and c()
