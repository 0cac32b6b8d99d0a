# A complete paste settles what a broken one contradicted.

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
| ```c:src/a.c
| int add(int a, int b, int c) { return a + b + c; }
| ```
model
| Yes.

user
| And `add` now?
