# An audit that comes after the next prompt promotes nothing.
law 10 | Its result is on record; a late one only takes away

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

user
| What does a() do?
audit
| {"entity": "src/a.c::a", "status": "completed"}
