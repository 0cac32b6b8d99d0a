# Another reply to the first message: what it pastes is older than what is true and on disk, and
# isn't taken again.
law 15.2, 15.4 | Code in words that were said before doesn't take the place of what came to the file since | said_before

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
back 1
again
