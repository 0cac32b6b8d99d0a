# A client that changes replies before it sends them back: another reply to the same words is
# asked for in what looks like another conversation.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

context
| Hello
context assistant
| Hi (shortened).
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
new
context
| Hello
context assistant
| Hi.
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
