# The user has pasted something newer since, which no file holds yet: the first words don't undo
# it.

disk src/a.c
| int add(int a, int b) { return 0; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| Noted.

user
| src/a.c
| ```c
| int add(int a, int b) { return b + a; }
| ```
| That is better.
new
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
