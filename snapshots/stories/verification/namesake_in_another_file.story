# The user goes on from the proposal and pastes another file's function of the same name: it
# replaces nothing here.

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
| Now change `a` of src/a.c to be like this one:
| ```c:src/b.c
| int a(int x) { return x * 3; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x * 30; }
| ```
