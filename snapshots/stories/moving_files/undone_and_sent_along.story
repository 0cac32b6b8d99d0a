# A client without tools sends its files along in a new conversation, after a checkout: an
# accepted change that nobody saved here waits no longer, and the next edit is judged by what the
# file holds.

disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
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
| int a(int x) { return x + 7; }
| ```

new
context
| Files of the chat:
|
| src/a.c
| ```c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| ```
context assistant
| Ok.
user
| Make a() in src/a.c add 9
model
| src/a.c
| ```c
| int a(int x) { return x + 9; }
| int b(int x) { return x + 2; }
| ```
