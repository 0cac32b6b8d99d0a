# The old and the new body of one function in one block: nobody can tell which is meant.
law 6 A | Nothing is defined twice | defined_once, duplicate_definition

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
| Make twice() shorter.
model
| ```c:src/a.c
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
|
| int twice(int x) {
|     return 2 * x;
| }
| ```
