# Two episodes are set: it is gone after the third, and the model can write the function anew.
law 9.2 | A removed symbol is remembered as removed for N episodes; N is a setting, 10 by default, and is in the policy on record | omitted_by_update
law 9.2 | Kept for N episodes, 10 by default

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
| Turn 1.
model
| Yes.

user
| Turn 2.
model
| Yes.

user
| What does `one` do?
model
| ```c:src/a.c
| int two(int x) { return x + 2; }
| ```
