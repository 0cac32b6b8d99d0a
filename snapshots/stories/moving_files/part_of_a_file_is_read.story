# The user edits two functions by hand and the agent reads one of them: that one is known again,
# the other stays STALE, and the third was never touched.
law 15.4 | Staleness is a definition's: what didn't diverge is judged as usual, and the file as a whole steps down for it | part_replaced

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
| int a(int x) { return x + 100; }
| int b(int x) { return x + 200; }
user
| Look at a() in src/a.c
call read
| {"path": "src/a.c", "limit": 1}
model
| I read it.

context tool
| 1: int a(int x) { return x + 100; }
again
call edit
| {"path": "src/a.c", "old_string": "x + 100", "new_string": "x + 101"}
model
| I change it.
