# Two edits of one file in one reply count as one: its reader applies both.

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
| =======
|     if (low > high) return x;
|     if (x < low) return low;
| >>>>>>> REPLACE
| ```
| And the other function:
|
| src/a.c
| ```c
| <<<<<<< SEARCH
|     int sum = x + x;
|     return sum;
| =======
|     int sum = 2 * x;
|     return sum;
| >>>>>>> REPLACE
| ```
