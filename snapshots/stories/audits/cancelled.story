# An audit that ended without an answer grants nothing.

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Make `a` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

audit cancelled

user
| What does a() do?
