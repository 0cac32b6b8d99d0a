# The client shows and sends back replies without their thoughts: the conversation is still the
# same, and so is a turn of it that is asked for again.

user
| Hello
model
| <think>
| A greeting.
| </think>
|
| Hi.

new
context
| Hello
context assistant
| Hi.
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| <think>a + b, b + a.</think>
| src/a.c
| ```c
| int add(int a, int b) { return b + a; }
| ```

disk src/a.c
| int add(int a, int b) { return b + a; }
back 1
again
