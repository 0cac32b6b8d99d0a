# The user accepts that a function is gone which a refused edit had left out.
law 15.8 | A deleted file is told as deleted; the user's word resolves it | deletion_accepted

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
| Tidy src/a.c up
call write
| {"path": "src/a.c", "content": "int a(int x) { return x + 7; }\n"}
model
| I write it.

disk src/a.c
| int a(int x) { return x + 7; }
context tool
| Written.
again
model
| Done.

user
| @tslp accept src/a.c::b
