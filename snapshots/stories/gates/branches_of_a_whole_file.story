# A whole file defines a function in two branches, as before: nothing is defined twice.
law 6 A | Nothing is defined twice

user
| ```c:src/a.c
| #include <a.h>
| #ifdef FAST
| int sum(int x) {
|     int y = x + x;
|     return y;
| }
| #else
| int sum(int x) {
|     int y = x;
|     return y + x;
| }
| #endif
| ```
| Count to ten.
model
| ```c:src/a.c
| #include <a.h>
| #ifdef FAST
| int sum(int x) {
|     int y = x + x;
|     return y + 10;
| }
| #else
| int sum(int x) {
|     int y = x;
|     return y + x;
| }
| #endif
| ```
