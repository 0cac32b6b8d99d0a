# The next change of the file verifies it with all that its block changes: file and definitions
# agree.

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
| Keep this.
model
| Kept.

user
| Let src/a.c add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 12; }
| ```

user
| Now change src/a.c to take a long.
model
| ```c:src/a.c
| long a(long x) { return x + 10; }
| long b(long x) { return x + 12; }
| ```
