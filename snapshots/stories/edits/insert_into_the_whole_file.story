# The same where the whole file is known.

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
| Let clamp() cope with low > high.
call file_editor
| {"command": "insert", "path": "src/a.c", "insert_line": 3, "new_str": "    if (low > high) return x;"}
model
| I insert it.
