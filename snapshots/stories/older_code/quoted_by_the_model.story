# What the model quoted is withheld once disk contradicts it; its quote of what is true and its
# own code stay.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it
law engine 7 | What is true, and what never was, stays byte for byte

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
| With its path:
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
| ```
| Without:
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Without a language:
| ```
| int add(int a, int b) { return a + b; }
| ```
| The other one:
| ```c
| int sub(int a, int b) { return a - b; }
| ```
| One of mine:
| ```c
| int add_all(int a, int b) { return b + a; }
| ```

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
