# What the user left out of a whole file doesn't come back because the model repeats it.
law 9.2 | What the user removed comes back by the user's word alone | not_removed, removed_by_user

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
model
| Thanks.

user
| ```c:src/a.c
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```
| Tidy this up.
model
| ```c:src/a.c
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```
