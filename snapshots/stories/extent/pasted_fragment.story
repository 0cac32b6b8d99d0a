# The user pastes one function of a file of two: a fragment, the other function stays.
law 5 | AUTHORITATIVE → SUPERSEDED: a part of the file changed by itself | part_replaced
law engine 7 | Code that the conversation shows as it is true, and goes on showing, isn't shown again, whoever showed it | in_sight
law 9.2 | A fragment tombstones nothing

user
| ```c:src/a.c
| #include <a.h>
| int one(void) { return 1; }
| int two(void) { return 2; }
| ```
model
| Fine.

user
| ```c:src/a.c
| int one(void) { return 11; }
| ```
