# A function that the prompt names is put in front of the user's words once, and stands there in
# every later step; once the client has read it, it isn't put anywhere again.
law engine 7 | Code that the conversation shows as it is true, and goes on showing, isn't shown again, whoever showed it | in_sight

tools
disk src/a.c
| int add_up(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add_up(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

new
user
| What does `add_up` do?
call read
| {"path": "src/a.c"}
model
| I look.

context tool
| 1: int add_up(int a, int b) { return a + b; }
again
model
| It adds.

user
| And `add_up` with `sub`?
