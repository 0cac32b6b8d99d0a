# The client doesn't apply an edit that was promoted; the model reads the file and makes it again.
# Nothing is withheld and nobody told.
law 15.2 | A change that an agent's client has carried out and disk doesn't hold isn't true; the model is told where nobody else said it

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
| {"path": "src/a.c", "old_string": "    return a - b;", "new_string": "    return a - b - 1;"}
model
| I change it.

context tool
| Read the file first.
again
call edit
| {"path": "src/a.c", "old_string": "    return a - b;", "new_string": "    return a - b - 1;"}
model
| Again.

disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b - 1;
| }
context tool
| Edit applied.
again
