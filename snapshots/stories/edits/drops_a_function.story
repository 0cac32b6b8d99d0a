# An edit that takes a function away loses a symbol like any other.

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
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| =======
| >>>>>>> REPLACE
| ```
