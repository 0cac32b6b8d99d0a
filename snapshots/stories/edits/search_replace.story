# aider's SEARCH/REPLACE block, applied to the authoritative file: the whole file and the changed
# function are promoted.
law engine 5 | An edit that applies exactly to the authoritative base: CONFIRMED | edit_applied

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
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
| =======
| int clamp(int x, int low, int high) {
|     if (low > high) return x;
|     if (x < low) return low;
| >>>>>>> REPLACE
| ```

user
| Show me clamp()
