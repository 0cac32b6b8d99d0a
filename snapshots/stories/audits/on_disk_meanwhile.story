# Another function of the same name came to disk before the audit's answer: the new one isn't
# promoted over it.

policy profile strict

user
| ```c:src/a.c
| int b(int x) { return x + 2; }
| ```
| Write `a`.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

disk src/a.c
| int b(int x) { return x + 2; }
| int a(int x) { return x - 1; }
audit
| {"entity": "src/a.c::a", "status": "completed"}
