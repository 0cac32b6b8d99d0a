# A function that shrank below half of its nodes and tokens is refused.
law 7 | The token count may not collapse | tokens_kept, tokens_collapsed
law 6 | Gate A: structural parity

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
| int clamp(int x, int low, int high) {
|     return x;
| }
| ```

user
| Show me clamp()
