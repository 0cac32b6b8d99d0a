# The same where only two functions are known: the edit is applied to the function that holds the
# text.

user
| ```c:src/a.c (10-17)
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
|     if (x < low) return low;
| =======
|     if (low > high) return x;
|     if (x < low) return low;
| >>>>>>> REPLACE
| ```
