# A whole file with one more function: an expanded symbol set passes parity.
law 6 B | Structural parity: the same or a larger symbol set (profile `standard`) | structural_parity
law 6 | Gate B: the same or an expanded symbol set

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
|
| int thrice(int x) { return 3 * x; }
| ```

user
| Show me thrice()
