# A long reply is recorded piece by piece while it comes; code that spans pieces is judged as one
# block.

full each piece of the reply is in the Vault once

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
model pieces
| Here it is:
| ```c:src/a.c
| int twice(int x) {
|     int sum = 2 * x;
|     return sum;
| }
| ```
| Done.

user
| Show me twice()
