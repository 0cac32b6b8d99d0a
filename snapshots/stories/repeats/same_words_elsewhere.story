# The same words begin another conversation: nothing tells it from another reply that is asked
# for, and the file says what is newer.
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
new
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| What is to be improved?

user
| Make `add` faster.
