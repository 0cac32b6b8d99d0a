# Where a parser meets a tool's remarks in front of a file's text, a definition behind them is
# found all the same.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

new
tools
user
| Build it and have a look.
call bash
| {"command": "make && cat src/a.c"}
call bash
| {"command": "make && tail -1 src/a.c"}
model
| Building.

context tool
| Exit code: 0
| Output:
| cc -O2 -c src/a.c
| int add(int a, int b) {
|     return a + b;
| }
context tool
| Exit code: 0
| Output:
| cc -O2 -c src/a.c
| int sub(int a, int b) { return a - b; }
context assistant
| Built.
disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
|
| int sub(int a, int b) { return a - b; }
user
| @tslp accept src/a.c
model
| Yes.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
