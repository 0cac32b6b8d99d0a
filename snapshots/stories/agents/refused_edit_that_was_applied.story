# The client applies an edit that was refused: the model is told once what is missing, nothing is
# withheld, and the next step has no word more.

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
| {"path": "src/a.c", "old_string": "    return a - b;", "new_string": "    // ... existing code ..."}
model
| I change it.

disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     // ... existing code ...
| }
context tool
| Edit applied.
again
call list
| {}
model
| I look around.

context tool
| src
again
