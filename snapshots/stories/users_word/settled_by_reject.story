# `reject` settles what a broken paste contradicted.

user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

user
| ```c:src/a.c
| int add(int a, int b, int c) { return a + (b + ; }
| ```
model
| I see.

user
| What does `add` do, and `sub`?
model
| Hm.

user
| @tslp reject src/a.c::add
model
| Yes.

user
| And `add` now?
