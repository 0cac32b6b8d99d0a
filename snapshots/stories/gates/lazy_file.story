# A placeholder between functions makes the whole block partial: nothing of it is promoted,
# nothing removed.
law engine 5 | A placeholder is no deletion and no definition | elided

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
| // ... rest of the code unchanged ...
|
| int twice(int x) {
|     return 2 * x + 0 * x;
| }
| ```

user
| Show me src/a.c
