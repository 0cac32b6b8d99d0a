# Replies that break off, lose their client or are an error advance nothing, whatever code they
# hold.

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
model broken
| ```c:src/a.c
| int twice(int x) { int sum = 2 * x; return sum + 0; }
| ```

back 1
user
| Once more.
model gone
| ```c:src/a.c
| int twice(int x) { int sum = 2 * x; return sum + 0; }
| ```

back 1
user
| Once more.
model refused

back 1
user
| Show me twice()
