# A lazy edit with a placeholder is refused and told; the full edit that follows is promoted.
law 6 A | The definition is there in full | full_definition
law engine 5 | A placeholder is no deletion and no definition | elided
law 6 | Gate A: the full definition is there

full a notice with a placeholder and missing lines, and how true code follows

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
|     if (low > high) return x;
|     // ... existing code ...
| }
| ```

user
| Please give clamp() in full.
model
| ```c:src/a.c
| int clamp(int x, int low, int high) {
|     if (low > high) return x;
|     if (x < low) return low;
|     if (x > high) return high;
|     return x;
| }
| ```

user
| Show me clamp()
