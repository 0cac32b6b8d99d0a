# A formatter ran over a file that the next prompt doesn't name: the state follows at the first
# look, and nobody hears of it.

touch
tools
disk src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| Make a() in src/a.c add 7
call edit
| {"path": "src/a.c", "old_string": "x + 1", "new_string": "x + 7"}
model
| I change it.

disk src/a.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
context tool
| Edit applied.
again
model
| Done.

disk src/a.c
| int a(int x) {
|     return x + 7;
| }
|
| int b(int x) {
|     return x + 2;
| }
user
| What is left to do?
model
| Nothing.
