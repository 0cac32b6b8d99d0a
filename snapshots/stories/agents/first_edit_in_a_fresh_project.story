# Nobody adopted the file: the prompt names it, so it is known before the first edit, which is
# promoted. Nothing is put into any step.
law 8.1 | A file that is named, and a definition that is named with it, are left to the client's tools, where it has any: the model reads it with the line numbers that its edits need | left_to_tools

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
| {"path": "src/a.c", "old_string": "    return a + b;", "new_string": "    int sum = a + b;\n    return sum > 100 ? 100 : sum;"}
model
| I change it.

disk src/a.c
| int add(int a, int b)
| {
|     int sum = a + b;
|     return sum > 100 ? 100 : sum;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
context tool
| Edit applied.
again
