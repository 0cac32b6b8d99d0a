# The user pastes what disk doesn't hold: acknowledged, so shown; when disk changes again it is
# STALE.
law 9.1 | The user always wins
law 15.2 | The user's paste, the disk, the State Map, the model: in this order

disk src/a.c
| int a(int x) { return x + 1; }
user
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```
model
| Fine.

user
| Show me a()
model
| Fine.

disk src/a.c
| int a(int x) { return x + 3; }
user
| Show me a()
