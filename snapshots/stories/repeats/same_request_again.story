# In profile strict a proposal waits: a client of a named session that asks for another reply to
# the first message confirms nothing.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

policy profile strict

session work
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

new
user
| Change `add` so that it is faster.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```

back 1
again
