# What the model itself has changed in view stays as it was read; in a new turn that names it the
# function is shown as it is now.

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
model
| Done.

user
| And what does add() return for large sums?
