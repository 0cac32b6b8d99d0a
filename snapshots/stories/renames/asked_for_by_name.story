# The user asks for a new function by name: it may look like an old one.

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
| Write clamp_long like clamp() for long.
model
| ```c:src/a.c
| long clamp_long(long x, long low, long high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```
