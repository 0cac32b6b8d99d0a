# An agent's next step isn't the user's next prompt: an audit that was put off until then still
# counts.
law 6 B, 10 | A shadow audit said `completed` before the user's next prompt; what an agent's next step puts off is asked again | shadow_audit

policy profile strict

touch
tools
disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Make `a` in src/a.c add 10.
call edit
| {"path": "src/a.c", "old_string": "x + 1", "new_string": "x + 10"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 10; }
| int b(int x) { return x + 2; }
context tool
| Edit applied.
again
model
| Done.

audit
| {"entity": "src/a.c::a", "status": "completed"}

user
| What does a() do?
