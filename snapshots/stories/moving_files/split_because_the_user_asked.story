# The user asks for a function to be moved to a file of its own: it is true there, and gone where
# it was.
law 7 | What a reply takes out of one file and puts into another as it is has moved: not lost, and no copy | moved_or_copied

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

user
| Move b() from src/a.c to src/b.c
call write
| {"path": "src/b.c", "content": "int b(int x) { return x + 2; }\n"}
call edit
| {"path": "src/a.c", "old_string": "int b(int x) { return x + 2; }\n", "new_string": ""}
model
| I move it.

disk src/b.c
| int b(int x) { return x + 2; }
disk src/a.c
| int a(int x) { return x + 7; }
context tool
| Written.
context tool
| Edit applied.
again
model
| Done.

user
| What does b() do?
