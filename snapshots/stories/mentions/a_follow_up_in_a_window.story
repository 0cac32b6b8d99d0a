# Who names nothing goes on about what was named last: its code goes out, and the reply counts.

full what the prompts hold
policy history window

disk src/a.c
| int one(int x) {
|     return x + 1;
| }
|
| int other(int x) {
|     return x - 1;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| Let `one` in src/a.c add two.
model
| ```c:src/a.c
| int one(int x) {
|     return x + 2;
| }
| ```

user
| Now make it log what it returns.
model
| ```c:src/a.c
| int one(int x) {
|     log_int(x + 2);
|     return x + 2;
| }
| ```

user
| And say why in a comment.
