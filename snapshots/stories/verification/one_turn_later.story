# Only the turn directly before counts.
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
| Thanks. What is C?
model
| A language.

user
| Now change `a` to take a long.
