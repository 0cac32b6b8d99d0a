# What a client sends back of the model's thoughts is judged as its words are.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

full a marker in thoughts
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
thought
| The file says
| ```c
| int add(int a, int b) { return a + b; }
| ```
| and beside it
| ```c
| int sub(int a, int b) { return a - b; }
| ```
| so I quote it.
model
| It adds.

user
| And `sub`?
thought
| Nothing to quote.
model
| It subtracts.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
