# A client runs a call before the reply's end: disk holds the edit when it is judged, and agrees
# with it.
law 15.2 | Disk that holds what is proposed agrees with it

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
model
| I change it.

context tool
| Edit applied.
again
