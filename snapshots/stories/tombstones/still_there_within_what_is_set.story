# Two episodes are set: in the second the model can't bring it back.
law 9.2 | A removed symbol is remembered as removed for N episodes; N is a setting, 10 by default, and is in the policy on record | omitted_by_update

policy tombstones 2
policy history client

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| int two(int x) { return x + 2; }
| ```
model
| Fine.

user
| ```c:src/a.c
| #include <a.h>
| int one(int x) { return x + 1; }
| ```
model
| Fine.

user
| Turn 0.
model
| Yes.

user
| What does `one` do?
model
| ```c:src/a.c
| int two(int x) { return x + 2; }
| ```
