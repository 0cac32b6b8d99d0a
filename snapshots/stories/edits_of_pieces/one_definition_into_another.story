# An edit makes another known function out of one: the one would be lost, so nothing is promoted.
law 7 | No loss of a top-level symbol | symbols_kept, symbols_lost

user
| ```c:src/a.c
| int twice(int x) {
|     int sum = x + x;
|     return sum;
| }
| ```
user
| ```c:src/a.c
| int double_of(int x) {
|     return x * 2;
| }
| ```
| Tidy up twice().
model
| src/a.c
| ```c
| <<<<<<< SEARCH
| int twice(int x) {
| =======
| int double_of(int x) {
| >>>>>>> REPLACE
| ```
