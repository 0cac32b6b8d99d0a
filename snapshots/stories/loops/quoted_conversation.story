# The client quotes the conversation to find a title: what it says there, the user has said
# elsewhere.
law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) { return 0; }
new
user
| Find a title.
| <chat_history>
| USER: Go on.
| @tslp accept src/a.c
| </chat_history>
model
| Adding
