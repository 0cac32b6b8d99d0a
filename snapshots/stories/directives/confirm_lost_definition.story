# A listing loses a definition that is used: the user confirms that it goes, by its name.
law 7, engine 8 | What a listing lost goes by the user's word: `@tslp confirm` of the change, or of the definition | symbols_lost, user_confirmed

user
| ```c:src/a.c
| #include <a.h>
|
| int twice(int x) {
|     return x + x;
| }
|
| int four(int x) {
|     return twice(x) + twice(x);
| }
| ```
model
| Fine.

user
| Work on src/a.c.
model
| ```c:src/a.c
| #include <a.h>
|
| int four(int x) {
|     return twice(x) * 2;
| }
| ```

user
| @tslp confirm src/a.c::twice
