# The user's diff of code that disk contradicts: it says nothing of the rest, so it isn't the
# user's word on it.

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

disk src/a.c
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     return x < low ? low : x;
| }
|
| int twice(int x) {
|     return x * 2;
| }
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
