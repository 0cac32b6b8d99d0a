# A proposal with a placeholder can't be confirmed.
law engine 8 | What hasn't passed gate A can't be confirmed, and it is said why | not_confirmable

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

user
| Make `add` safer.
model
| ```c:src/a.c
| int add(int a, int b) {
|     // ... rest unchanged
| }
| ```

user
| @tslp confirm src/a.c::add
