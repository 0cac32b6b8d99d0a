# The model remembers an older text: the edit stays PROPOSED, its base unacknowledged, and the
# current code is shown again.
law 12 | The base isn't the current one, or isn't known so | base_unacknowledged
law 12 | The text to be replaced isn't there | edit_text_not_found
law 12 | A base that isn't acknowledged: PROPOSED

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
model
| src/a.c
| ```c
| <<<<<<< SEARCH
|     if (x <= low) return low;
| =======
|     if (low > high) return x;
| >>>>>>> REPLACE
| ```

user
| Try again.
