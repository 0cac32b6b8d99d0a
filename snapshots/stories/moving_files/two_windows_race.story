# What one window's accepted change made and nobody saved is shown to the other window with a
# warning; a change that the other window made of the older version is refused.
law 15.4 | An accepted change that isn't saved yet is current; two windows are warned | unsaved_elsewhere

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
| Change a()
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

client B
user
| Explain a() in src/a.c
client A
user
| And make a() add 9
model
| ```c:src/a.c
| int a(int x) { return x + 9; }
| ```

client B
model
| ```c:src/a.c
| int a(int x) { return x + 70; }
| ```

user
| Once more, a() please
