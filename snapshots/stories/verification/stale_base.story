# Disk has diverged from the base meanwhile: nothing is promoted, and the proposal is void.
law 15.4 | No base of a promotion
law 15.6 | What refers to a STALE base is invalid

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

disk src/a.c
| int a(int x) { return x - 1; }
user
| Now change `a` to take a long.
