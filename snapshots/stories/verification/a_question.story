# A question asks for no change: the proposal stays PROPOSED.

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
| What does `a` return?
