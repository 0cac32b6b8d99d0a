# The file changes between the prompt and the reply: the look before promotion catches it.
law 15.1 | Never unaware of divergence

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
disk src/a.c
| int a(int x) { return x + 100; }
| int b(int x) { return x + 2; }
model
| ```c:src/a.c
| int a(int x) { return x + 7; }
| ```

user
| Show me a()
