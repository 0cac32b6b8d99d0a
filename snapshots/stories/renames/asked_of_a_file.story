# The user asks to delete a file, and the model's patch deletes it: all of it is tombstoned.
law 9.2 | Only the user removes a file | file_deletion

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
| Delete src/a.c, please.
model
| ```
| *** Begin Patch
| *** Delete File: src/a.c
| *** End Patch
| ```

user
| What about clamp()?
