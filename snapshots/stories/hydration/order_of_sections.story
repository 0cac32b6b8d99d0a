# One system message: the client's own, then code, then notices, then recent context.
law 8.2 | The template, to the letter; its content is a fence of the code's language
law engine 7 | System, recent context, code, notices, prompt: in this order
law 2 | The model is stateless: what it needs is put there
law 3.2 | Never injected into prompts

full the order of system message, code, notices and recent context

user
| ```c:src/a.c
| int first(int x) { return x + 1; }
| int second(int x) { return x + 2; }
| int third(int x) { return x + 3; }
| ```
| ```c:src/b.c
| #include <b.h>
| int whole(int x) { return x + 4; }
| ```
model
| Fine.

new
context system
| You are terse.
user
| Write a function.
model
| ```c
| int unknown_one(void) { return 1; }
| ```

user
| Explain second()
