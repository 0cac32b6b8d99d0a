# Cline's replace_in_file with its own SEARCH/REPLACE marks.

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
| <replace_in_file>
| <path>src/a.c</path>
| <diff>
| ------- SEARCH
|     int sum = x + x;
|     return sum;
| =======
|     int sum = x * 2;
|     return sum;
| +++++++ REPLACE
| </diff>
| </replace_in_file>
