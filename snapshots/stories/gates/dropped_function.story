# A whole file without one of its functions is refused as a whole; the other function stays as
# well.
law 7 | No loss of a top-level symbol | symbols_kept, symbols_lost
law engine 7 | A part of a file, or of a class, that is shown isn't shown again, and counts as shown | covered_by_file
law 7 | No loss of top-level symbols

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
|     if (low > high) return x;
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```

user
| Show me src/a.c
