# Said again, the directive acts as it ever does and the paste beside it doesn't: what the user
# takes is what disk holds.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| int add(int a, int b) { return a + b; }
disk src/b.c
| int twice(int a) { return 2 * a; }
user
| @tslp accept src/b.c
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
disk src/b.c
| int twice(int a) { return a + a; }
back 1
again
