# A fence that is never closed is truncated.
law engine 5 | What breaks off is partial: by length, by an open fence, by open brackets | truncated

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
|     int sum = x + x + 0;
|     return sum;
| }

user
| Go on.
