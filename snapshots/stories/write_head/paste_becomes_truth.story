# A pasted function is hydrated when a new conversation names it; the model's full update then
# takes its place.
law 6 B, 9.1 | The user's own code is true at once | write_head
law 6 | Gate B: the user's code is true at once
law 9.1 | The user's code is resolved and true at once

user
| Here is src/a.c:
| ```c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| Thanks, add() adds.

new
user
| Please make `add` safer.
model
| ```c:src/a.c
| int add(int a, int b) {
|     if (a > 100) return 0;
|     return a + b;
| }
| ```

user
| And what does `add` do now?
