# An audit that finds the change complete before the next prompt is the grant that was missing.
law 6 B, 10 | A shadow audit said `completed` before the user's next prompt; what an agent's next step puts off is asked again | shadow_audit
law 6 | Gate B: an audit says completed

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
| {"entity": "src/a.c::a", "status": "completed"}

user
| What does a() do?
