# `confirm` promotes a proposal that only STALE keeps back.

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
| Make `add` safer.
model
| ```c:src/a.c
| int add(int a, int b) {
|     if (a > 100) return 0;
|     return a + b;
| }
| ```

user
| @tslp confirm src/a.c::add
