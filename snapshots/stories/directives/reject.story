# `reject` drops a proposal.
law engine 8 | `@tslp reject` drops proposals | user_rejected

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
| @tslp reject src/a.c::add
