# An edit renames a function that the user's fragment held unchanged: it would be lost, so nothing
# is promoted.
law 7 | No loss of a top-level symbol | symbols_kept, symbols_lost

user
| ```c:src/a.c
| #include <a.h>
|
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
|
| int half(int x) {
|     return x / 2;
| }
| ```
user
| ```c:src/a.c
| int half(int x) {
|     return x >> 1;
| }
|
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```
model
| Thanks.

new
user
| Tidy up.
model
| src/a.c
| ```c
| <<<<<<< SEARCH
|     return x >> 1;
| }
|
| int twice(int x) {
| =======
|     return x >> 1;
| }
|
| int double_of(int x) {
| >>>>>>> REPLACE
| ```
