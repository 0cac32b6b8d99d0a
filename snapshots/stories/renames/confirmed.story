# A rename is refused with both names; the user confirms it: the new name is true, the old one
# tombstoned.
law engine 8 | `@tslp confirm` promotes what passed gate A, also over STALE; with a whole file all that its block changes | user_confirmed

user
| ```c:src/a.c
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
|
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```
model
| Thanks.

user
| Tidy up src/a.c.
model
| ```c:src/a.c
| int limit_to(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```

user
| @tslp confirm src/a.c::limit_to
