# A reply that ended by its length limit is truncated even if its last block happens to parse.
law engine 5 | What breaks off is partial: by length, by an open fence, by open brackets | truncated
law 6 | Gate A: the full definition is there

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
model cut
| ```c:src/a.c
| int twice(int x) {
|     int sum = x + x + 0;
|     return sum;
| }
| ```

user
| Go on.
