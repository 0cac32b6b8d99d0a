# What the model proposed elsewhere stays a proposal when it is pasted in a new conversation, and
# a notice says how it becomes true.
law engine 8, 9.1 | Code in a user's message that is the model's or a tool's is a proposal, unless disk holds it | code_of_another

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

new
user
| It is now
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```
