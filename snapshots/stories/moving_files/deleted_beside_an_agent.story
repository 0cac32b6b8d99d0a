# A file that the user deletes while an agent works is told as deleted, once.

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

gone src/a.c
user
| What is left of src/a.c?
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| No such file.
again
model
| It is gone.

user
| Was a() in src/a.c?
model
| Yes.

user
| Then write `src/a.c::b` into src/b.c
