# A patch that adds a file which is known already.
law 12 | A new file over a known one is a write of all of it (ledgers of earlier rules: `file_exists`) | symbols_lost

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
| *** Add File: src/a.c
| +int clamp(int x) { return x; }
| *** End Patch
