# A block that repeats STALE code was written on it, so its new function isn't promoted either.
law 15.1, 15.6 | The files of older code are looked at before it goes out

disk src/a.c
| int a(int x) { return x + 1; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

disk src/a.c
| int a(int x) { return x + 2; }
user
| Add a function b.
model
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return a(x); }
| ```
