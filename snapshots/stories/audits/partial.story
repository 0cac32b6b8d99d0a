# An audit that doubts the change keeps it PROPOSED, and the next prompt says so.
law 10 | What an audit doubts is contested, early or late; nothing is taken back | audit_contested

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

audit
| {"entity": "src/a.c::a", "status": "partial"}

user
| What does a() do?
