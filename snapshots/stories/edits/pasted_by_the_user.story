# The user pastes a diff: the write-head's word, applied to what is true.

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
| Fine.

user
| ```diff
| --- a/src/a.c
| +++ b/src/a.c
| @@ -9,4 +9,3 @@
|  int twice(int x) {
| -    int sum = x + x;
| -    return sum;
| +    return 2 * x;
|  }
| ```
| I have changed this.
