# A refused proposal that the user applied by hand and then pastes with the rest of the file
# becomes true.

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

user
| Shorten a()
model
| ```c:src/a.c
| int a(int x) { return x; }
| // ... rest unchanged ...
| ```

disk src/a.c
| int a(int x) { return x; }
| int b(int x) { return x + 2; }
user
| I applied it. The file is now
| ```c:src/a.c
| int a(int x) { return x; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

user
| Show me a()
