# A function for a known file under a comment that names it: whether the user copies that line or
# not, the function is the same.

disk src/a.c
| int clamp(int x) {
|     if (x < 0) return 0;
|     return x;
| }
|
| int twice(int x) {
|     int doubled = x * 2;
|     if (doubled > 100) {
|         doubled = 100;
|     }
|     return doubled;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| Let `clamp` in src/a.c return -1 below zero.
model
| ```c
| // src/a.c
| int clamp(int x) {
|     if (x < 0) return -1;
|     return x;
| }
| ```

disk src/a.c
| int clamp(int x) {
|     if (x < 0) return -1;
|     return x;
| }
|
| int twice(int x) {
|     int doubled = x * 2;
|     if (doubled > 100) {
|         doubled = 100;
|     }
|     return doubled;
| }
user
| What does `clamp` in src/a.c do?
model
| It clamps.

disk src/a.c
| // src/a.c
| int clamp(int x) {
|     if (x < 0) return -1;
|     return x;
| }
|
| int twice(int x) {
|     int doubled = x * 2;
|     if (doubled > 100) {
|         doubled = 100;
|     }
|     return doubled;
| }
user
| And what does `twice` in src/a.c do?
