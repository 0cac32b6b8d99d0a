# While a function is STALE the model's new version of it is refused, and pasting the file
# resolves it.
law 15.5 | Disk agrees with the base | disk_agrees
law 15.4 | STALE: not shown, no base, no promotion | stale
law 2 | It materialises reality or refuses to act
law 15.2 | The user's paste, the disk, the State Map, the model: in this order
law 15.4 | Blocks the model's promotions
law 15.8 | A contradiction stops the proxy until the user says what holds

full what disk holds, and the STALE table

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

disk src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
user
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| This is my file:
| ```c:src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x + 107; }
| ```

user
| Show me a()
