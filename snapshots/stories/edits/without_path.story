# An edit that names no file is linked to nothing.
law 12 | The edit names no file | edit_without_path

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
| ```
| <<<<<<< SEARCH
|     int sum = x + x;
| =======
|     int sum = x * 2;
| >>>>>>> REPLACE
| ```
