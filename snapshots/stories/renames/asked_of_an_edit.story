# The user asks to rename one function and to delete another, and edits spell it out: the old
# names are tombstoned, the new one is true, and nobody is told to undo it.
law 9.2, 12 | What the user asks to remove, rename or move, and an edit spells out or a listing leaves out of all that was around it, is tombstoned; anything else that it takes away is refused | omitted_by_update

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
| Rename clamp() to limit_to.
model
| src/a.c
| ```
| <<<<<<< SEARCH
| int clamp(int x, int low, int high) {
| =======
| int limit_to(int x, int low, int high) {
| >>>>>>> REPLACE
| ```

user
| Please delete the function twice() as well.
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
| What is in src/a.c now?
