# A block repeats two functions, the second of which disk contradicts: it was written on STALE
# code.
law 15.4 | STALE: not shown, no base, no promotion | stale

user
| ```c:src/a.c
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| int three(int x) { return x + 3; }
| ```
| Make three() long.
disk src/a.c
| int one(int x) { return x + 1; }
| int two(int x) { return x - 2; }
| int three(int x) { return x + 3; }
model
| ```c:src/a.c
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| long three(long x) { return x + 3; }
| ```
