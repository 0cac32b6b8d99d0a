# In profile strict a proposal waits for the user's next prompt: the loop's next step, with the
# same words, is none.
law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation

policy profile strict

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Noted.

tools
user
| Change `add` so that it is faster.
call write_file
| {"path": "src/a.c", "content": "int add(int a, int b) { int sum = a; return sum + b; }\n"}
model
|

context tool
| done
again
model
| All done.
