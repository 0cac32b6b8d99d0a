# An apply_patch envelope in a tool call's argument.
law engine 5 | An edit that applies exactly to the authoritative base: CONFIRMED | edit_applied

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
call apply_patch
| {"input": "*** Begin Patch\n*** Update File: src/a.c\n@@ int clamp(int x, int low, int high) {\n+    if (low > high) return x;\n     if (x < low) return low;\n*** End Patch"}
model
| I patch it.
