# Of several edits of one file in one reply each that doesn't match is answered; those that
# matched aren't.

full what the prompts hold

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
| {"path": "src/a.c", "old_string": "    return a + b;", "new_string": "    return b + a;"}
call edit
| {"path": "src/a.c", "old_string": "int sub(int a, int b) {\n    return b - a;\n}", "new_string": "int sub(int a, int b) {\n    return a;\n}"}
model
| I change both.

disk src/a.c
| int add(int a, int b)
| {
|     return b + a;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
context tool
| Edit applied.
context tool
| String to replace not found in file.
again
call multi_edit
| {"path": "src/a.c", "edits": [{"old_string": "    return a - b;", "new_string": "    return a - b - 1;"}, {"old_string": "int add(int a, int c)", "new_string": "long add(int a, int c)"}, {"old_string": "int sub(int a, int c)", "new_string": "long sub(int a, int c)"}]}
model
| Now the rest.

context tool
| String to replace not found in file.
again
