# A record comes with what a tool's result shows of its code, with two of its words, or with a
# name in it; one of a file that is off is dropped, and what was told of it is taken back.

full what the model saw

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| @tslp note fact #add.plain: The sum may overflow. `return a + b;` [src/a.c]
| @tslp note decision #limits: Use ring_put for writers, at most 9.
| Noted?
model
| Yes.

client B
tools
user
| Go on.
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1→int add(int a, int b) {
| 2→    return a + b;
| 3→}
again
model
| It adds.

client C
user
| What does ring_put do?
model
| It writes.

user
| May the sum overflow?
model
| It may.

user
| @tslp off src/a.c
| And now? May the sum overflow?
model
| It may.

client D
user
| May the sum overflow?
