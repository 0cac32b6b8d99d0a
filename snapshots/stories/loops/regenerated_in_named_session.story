# In profile strict a proposal waits for the user's next prompt: asking for another answer to the
# same is none.

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

user
| Change `add` so that it is faster.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```

back 1
again
