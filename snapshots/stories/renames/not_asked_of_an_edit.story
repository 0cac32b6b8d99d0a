# An edit takes a function away that another one calls: refused, whatever the prompt says.
law 9.2, 12 | What the user asks to remove, rename or move, and an edit spells out or a listing leaves out of all that was around it, is tombstoned; anything else that it takes away is refused | symbols_lost

user
| ```c:src/a.c
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     if (x < low) return low;
|     if (x > high) return high;
|     return twice(x);
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
| Delete twice().
model
| src/a.c
| ```
| <<<<<<< SEARCH
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| =======
| >>>>>>> REPLACE
| ```

user
| And now?
