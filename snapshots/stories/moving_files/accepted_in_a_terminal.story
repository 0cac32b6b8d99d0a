# What the user wrote and accepts in a terminal was changed outside, and is told once.

touch
tools
disk src/a.c
| int a(int x) {
|     x = x * 2;
|     x = x - 3;
|     x = x * 5;
|     x = x - 7;
|     x = x * 11;
|     return x;
| }
| int b(int x) { return x + 2; }
user
| Look at src/a.c
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int a(int x) {
| 2:     x = x * 2;
| 3:     x = x - 3;
| 4:     x = x * 5;
| 5:     x = x - 7;
| 6:     x = x * 11;
| 7:     return x;
| 8: }
| 9: int b(int x) { return x + 2; }
again
model
| Read.

disk src/a.c
| int a(int x) {
|     x = x * 2;
|     x = x - 3;
|     x = x * 5;
|     return x;
| }
| int b(int x) { return x + 2; }
command accept src/a.c
user
| Now b() in src/a.c
model
| Fine.

user
| And a()?
