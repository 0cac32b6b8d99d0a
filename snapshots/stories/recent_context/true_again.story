# The user goes back to the first version: what stood in its place is withheld from now on, and it
# isn't.

policy history window

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Better:
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

user
| No, as it was:
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| As you like.

user
| Thanks.
