# The file got another function in another window before the audit's answer: the whole file as
# judged would lack it.

policy profile strict

user
| Write src/a.c
model
| ```c:src/a.c
| #include <a.h>
|
| int a(int x) { return x + 10; }
| ```

client B
user
| ```c:src/a.c
| int b(int x) { return x + 2; }
| ```
audit
| {"entity": "src/a.c::a", "status": "completed"}
