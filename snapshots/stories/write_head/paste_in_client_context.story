# Files that a client sends in an earlier message of its own are the user's word the first time,
# not again.

context
| src/a.c
| ```c
| int a(int x) { return x + 1; }
| ```
context assistant
| Ok.
user
| Add one more in a().
model
| src/a.c
| ```c
| int a(int x) { return x + 2; }
| ```

user
| Thanks, show me a()
