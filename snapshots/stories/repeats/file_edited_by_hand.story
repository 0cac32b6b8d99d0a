# The user edits the file and asks for another reply: the old paste is no decision about what they
# wrote.
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
| int add(int a, int b) { return b + a; }
back 1
again
