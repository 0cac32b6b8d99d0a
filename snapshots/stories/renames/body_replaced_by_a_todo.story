# A body that did something comes back as a stub.
law 6 A | A body that did something isn't replaced by one that does nothing | body_given, stub

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
| Make twice() shorter.
model
| ```c:src/a.c
| int twice(int x) {
|     // TODO: double it
| }
| ```
