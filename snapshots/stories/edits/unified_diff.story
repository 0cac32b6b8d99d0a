# A unified diff with wrong line numbers: matched by content.
law engine 5 | An edit that applies exactly to the authoritative base: CONFIRMED | edit_applied

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
| Let clamp() cope with low > high.
model
| ```diff
| --- a/src/a.c
| +++ b/src/a.c
| @@ -100,4 +100,5 @@
|  int clamp(int x, int low, int high) {
| +    if (low > high) return x;
|      if (x < low) return low;
|      if (x > high) return high;
| ```
