# Two definitions of one block: the audit finds one of them partial, so neither is promoted.
law 6 B, 10 | A shadow audit said `completed` before the user's next prompt; what an agent's next step puts off is asked again

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
| Add 10 to both.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 20; }
| ```

audit
| [{"entity": "src/a.c::a", "status": "completed"},
|  {"entity": "src/a.c::b", "status": "partial"}]
