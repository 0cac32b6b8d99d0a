# Code that isn't linked to its file can't be confirmed.
law engine 8 | What hasn't passed gate A can't be confirmed, and it is said why | not_confirmable

user
| ```c:src/a.c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| Fine.

new
user
| Write something that adds.
model
| ```c
| int add(int a, int b) {
|     return b + a;
| }
| ```

user
| @tslp confirm src/a.c::add
