# A known function comes back under another path: it isn't taken for a second one, unless the user
# names the path.
law 12 | A copy of a known definition under another path needs the user's confirmation | name_kept, moved_or_copied

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
| Make twice() shorter.
model
| ```c:lib/b.c
| int twice(int x) {
|     long sum = x + x;
|     return sum;
| }
| ```

user
| Yes, copy twice() into lib/b.c
model
| ```c:lib/b.c
| int twice(int x) {
|     long sum = x + x;
|     return sum;
| }
| ```
