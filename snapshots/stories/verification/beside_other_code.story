# The user goes on from the proposal and pastes code of something else: the proposal is verified
# all the same.

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
| Now change `a` to use this:
| ```c:src/a.c
| int helper(int x) { return x * 3; }
| ```
model
| ```c:src/a.c
| int a(int x) { return helper(x) + 10; }
| ```
