# The user pastes a version of their own: that one is true, and the proposal is moot.
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
| Use this in `a` and extend it:
| ```c:src/a.c
| int a(int x) { return x + 100; }
| ```
