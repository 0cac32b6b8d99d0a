# A SEARCH/REPLACE block without its end can't be read.
law 12 | The edit can't be read | edit_malformed

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
|     int sum = x + x;
| =======
|     int sum = x * 2;
| ```
