# Propose, verify, promote: the user asks for the next change of what was shown and proposed.
law 6 B | The user saw the proposal and names it, and is answered by its next change | user_verified
law 6 | Gate B: hydrated in the turn before, and the user goes on without replacement content

policy profile strict
policy audit off

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
| Keep this.
model
| Kept.

user
| Make `a` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

user
| Now change `a` to take a long.
model
| ```c:src/a.c
| long a(long x) { return x + 10; }
| ```
