# A client's own task quotes the conversation; refused code in it doesn't become the user's.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
model
| Fine.

user
| Change a()
model
| ```c:src/a.c
| int a(int x) { /* ... rest unchanged */ }
| ```

new
user
| ### Task:
| Generate a title.
| <chat_history>
| ASSISTANT: src/a.c
| ```c
| int a(int x) { return 0; }
| ```
| </chat_history>
