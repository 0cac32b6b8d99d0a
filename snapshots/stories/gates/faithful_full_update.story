# The model gives the whole file with a change: every changed part is promoted by structural
# parity.
law 6 A | The definition is there in full
law 6 B | Structural parity: the same or a larger symbol set (profile `standard`) | structural_parity
law 5 | AUTHORITATIVE → SUPERSEDED by a newer version | replaced
law 4 | CONFIRMED may update the State Map

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
| #include <a.h>
|
| int clamp(int x, int low, int high) {
|     if (low > high) return x;
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

user
| Show me clamp()
