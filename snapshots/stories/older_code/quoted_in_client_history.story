# The same where the client's own messages go along.
law 15.6 | Code that an older message shows, and that was changed where the conversation doesn't show it, is withheld there, once and for ever; a client with tools is told at the prompt's end | no_longer_current
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

policy history client

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

user
| Show me `add`
model
| ```c
| int add(int a, int b) { return a + b; }
| ```

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
