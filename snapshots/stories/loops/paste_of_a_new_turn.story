# The user pastes the same code again after the model has replaced it: a new word, above the disk.
law 9.1, engine 8 | What the user says again in a new turn acts again

tools
disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
call write_file
| {"path": "src/a.c", "content": "int add(int a, int b) { int sum = a; return sum + b; }\n"}
model
|

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
context tool
| written
again
model
| All done.

user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| As it was.
