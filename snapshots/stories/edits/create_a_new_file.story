# A patch that adds a file which nobody knows: a new file like any other.

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
| *** Begin Patch
| *** Add File: src/b.c
| +#include <a.h>
| +
| +int half(int x) { return x / 2; }
| *** End Patch
