# Two functions of one block are verified: the file that was true as a whole is superseded once.
law 6 B | The user saw the proposal and names it, and is answered by its next change | user_verified

policy profile strict
policy audit off

user
| ```c:src/a.c
| #include <a.h>
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Keep this.
model
| Kept.

user
| Make `a` and `b` add 10.
model
| ```c:src/a.c (1-2)
| int a(int x) { return x + 10; }
| int b(int x) { return x + 10; }
| ```

user
| Now change `a` and `b` to take a long.
model
| ```c:src/a.c (1-2)
| long a(long x) { return x + 10; }
| long b(long x) { return x + 10; }
| ```
