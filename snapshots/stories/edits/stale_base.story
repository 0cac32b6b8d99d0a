# The edit fits what is authoritative, but disk has diverged: no base for a promotion.
law 15.4 | No base of a promotion

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
disk src/a.c
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     return x < low ? low : x;
| }
|
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
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
