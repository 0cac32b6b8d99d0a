# With `repair = off` the client's words are all that the model gets.

policy repair off

touch
tools
disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
user
| Make the addition in src/a.c saturate, please.
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int add(int a, int b)
| 2: {
| 3:     return a + b;
| 4: }
| 5:
| 6: int sub(int a, int b)
| 7: {
| 8:     return a - b;
| 9: }
again
call edit
| {"path": "src/a.c", "old_string": "int sub(int a, int b) {\n    return b - a;\n}", "new_string": "int sub(int a, int b) {\n    return a;\n}"}
model
| I change it.

context tool
| Error: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.
again
