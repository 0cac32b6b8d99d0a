# A placeholder that an edit brings in is one, too.

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
| src/a.c
| ```c
| <<<<<<< SEARCH
|     if (x < low) return low;
|     if (x > high) return high;
| =======
|     if (low > high) return x;
|     // ... existing code ...
| >>>>>>> REPLACE
| ```
