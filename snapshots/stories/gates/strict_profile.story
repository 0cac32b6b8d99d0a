# Under the strict profile parity is no grant of its own: a faithful update waits for the user.
law 6 B | In profile `strict` parity is not enough | grant_missing
law 5 | PROPOSED is the default

policy profile strict

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

user
| Show me a()
