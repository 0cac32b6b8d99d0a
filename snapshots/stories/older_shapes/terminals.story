# Where an output says which file a part is of, that part goes alone; a copy that nothing is known
# of stays.
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
| I ran this:
| $ cat src/a.c
| int add(int a, int b) { return a + b; }
| $ make
| ok
| Have a look at the files.
call bash
| {"command": "head src/a.c src/b.c vendor/a.c"}
call grep
| {"pattern": "add", "path": "src"}
call bash
| {"command": "cat src/a.c src/b.c"}
call bash
| {"command": "cat vendor/a.c"}
call bash
| {"command": "cd src && cat a.c"}
call bash
| {"command": "cat -n src/a.c | head -1"}
model
| Reading.

context tool
| ==> src/a.c <==
| int add(int a, int b) { return a + b; }
|
| ==> src/b.c <==
| int other(void) { return 1; }
|
| ==> vendor/a.c <==
| int add(int a, int b) { return a + b; }
context tool
| src/a.c:1:int add(int a, int b) { return a + b; }
| src/a.c-2-
| --
| src/a.c:3:int sub(int a, int b) { return a - b; }
| src/b.c:1:int other(void) { return add(1, 2); }
context tool
| int add(int a, int b) { return a + b; }
| int other(void) { return 1; }
context tool
| int add(int a, int b) { return a + b; }
context tool
| int add(int a, int b) { return a + b; }
context tool
|      1	int add(int a, int b) { return a + b; }
context assistant
| I have read them.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
