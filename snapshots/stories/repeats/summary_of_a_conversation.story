# A client asks for a summary: what it quotes of the conversation is no paste.

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
user
| # USER
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
| # ASSISTANT
| src/a.c
| ```c
| int add(int a, int b) { int unsaid = a; return unsaid + b; }
| ```
