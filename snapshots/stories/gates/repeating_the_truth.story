# The model repeats a function as it is: nothing is proposed, nothing is said.

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
| ```c:src/a.c
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```

user
| Show me twice()
