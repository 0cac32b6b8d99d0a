# Disk changed while the audit ran: its grant comes too late for the base.

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

disk src/a.c
| int a(int x) { return x - 1; }
| int b(int x) { return x + 2; }
audit
| {"entity": "src/a.c::a", "status": "completed"}
