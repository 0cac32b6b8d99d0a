# The code in a message that was answered and has a reminder under it by now is known: it isn't
# pasted anew.
law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation

full code after the result of a tool

tools
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
call write_file
| {"path": "src/a.c", "content": "int add(int a, int b) { int sum = a; return sum + b; }\n"}
model
|

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
back 2
context
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Remember to run the tests.
context assistant
| Written.
context tool
| written
again
