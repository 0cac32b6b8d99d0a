# What the user pasted behind a placeholder at first becomes true when it is pasted in full: it is
# no quote.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| ```c:src/a.c
| int a(int x) { return x + 2; }
| // ... rest unchanged ...
| ```
model
| I need it in full.

user
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```
