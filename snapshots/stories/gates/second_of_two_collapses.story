# Of two definitions in a block the second collapses: the next prompt's notice names that one.

user
| ```c:src/a.c
| int one(int x) { return x + 1; }
| int two(int x) { int y = x + x; int z = y * y; return z > 9 ? 9 : z; }
| ```
| Make them long.
model
| ```c:src/a.c
| long one(long x) { return x + 1; }
| long two(long x) { return x; }
| ```

user
| Go on.
