# `accept` takes what disk holds as the user's word, and the code is shown again.
law engine 8 | `@tslp accept` takes what disk holds | user_accepted

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| src/a.c
| ```c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) {
|     return b + a;
| }
user
| What does `add` do?
model
| I can't see it.

user
| @tslp accept src/a.c::add
| What does `add` do?
