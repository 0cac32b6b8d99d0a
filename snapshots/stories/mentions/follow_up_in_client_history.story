# What the client's messages still show isn't shown again, and is the prompt's all the same.

full what the prompts hold
policy history client

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
