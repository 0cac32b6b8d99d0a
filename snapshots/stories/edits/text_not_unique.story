# A text that stands in two places: nobody knows which is meant.
law 12 | The text to be replaced is there more than once | edit_text_not_unique

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
| }
| =======
| } // end
| >>>>>>> REPLACE
| ```
