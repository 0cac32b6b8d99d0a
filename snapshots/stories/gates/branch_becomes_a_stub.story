# One of two branches loses its body: that one is compared with what stood in its place.
law 6 A | A body that did something isn't replaced by one that does nothing | body_given, stub

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
|     return y;
| }
| #else
| int sum(int x) {
|     // TODO
| }
| #endif
| ```
