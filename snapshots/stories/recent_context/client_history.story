# The client's messages stay in place; nothing in them changes where the conversation shows the
# newer code itself.
law engine 7 | The client's own messages go along, unless the window is asked for

context
| src/a.c
| ```c
| int a(int x) { return x + 1; }
| ```
context assistant
| Ok.
user
| Change a()
model
| src/a.c
| ```c
| int a(int x) { return x + 2; }
| ```

user
| Thanks. Explain a()
