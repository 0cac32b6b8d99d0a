# Where the rules want one block of one file, a reply with two is refused, and so is another file;
# the user confirms it all the same.
law engine 5 | Where they want one block of code, a reply with several is refused | one_block

policy spec one block; file: src/a.c

user
| Write twice() in src/a.c and thrice() in src/b.c.
model
| ```c:src/a.c
| int twice(int x) { return x + x; }
| ```
| ```c:src/b.c
| int thrice(int x) { return x + x + x; }
| ```

user
| Only thrice() then.
model
| ```c:src/b.c
| int thrice(int x) { return x + x + x; }
| ```

user
| @tslp confirm src/b.c::thrice
model
| Fine.

user
| And twice().
model
| ```c:src/a.c
| int twice(int x) { return x + x; }
| ```
