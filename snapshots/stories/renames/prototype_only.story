# A prototype is no definition.
law 6 A | A prototype, or statements without a definition, define nothing | no_definition

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
| int twice(int x);
| ```

user
| And twice() now?
