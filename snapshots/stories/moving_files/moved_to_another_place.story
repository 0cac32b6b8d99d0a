# A file that git has renamed is known at its new place as soon as somebody names it.
law 12 | A file that was renamed on disk is known at its new place | moved_or_copied

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

gone src/a.c
disk src/b.c
| int a(int x) { return x + 7; }
| int b(int x) { return x + 2; }
user
| Make a() in src/b.c add 8
call edit
| {"path": "src/b.c", "old_string": "x + 7", "new_string": "x + 8"}
model
| I change it.
