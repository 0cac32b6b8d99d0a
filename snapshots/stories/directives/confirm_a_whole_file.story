# Who confirms a file confirms all that its block changes.

policy history window
policy profile strict
policy audit off

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Noted.

user
| Let src/a.c add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 12; }
| ```

user
| @tslp confirm src/a.c
| What does `b` return?
