# An edit tool's call: the old string is there exactly once.
law engine 5 | An edit that applies exactly to the authoritative base: CONFIRMED | edit_applied

full arguments and the code that they make are in the Vault

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
call edit
| {"filePath": "src/a.c", "oldString": "    if (x < low) return low;", "newString": "    if (low > high) return x;\n    if (x < low) return low;"}
model
| I edit it.
