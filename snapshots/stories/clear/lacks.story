# Of two decisions with a quotation the file of one is off, and the code of the other has changed.

full what the model saw

disk src/a.c
| int one(void) { return 1; }
disk src/b.c
| int two(void) { return 2; }
user
| @tslp accept src/a.c
| @tslp accept src/b.c
| @tslp note decision #one: It is one. `return 1;` [src/a.c:1]
| @tslp note decision #two: It is two. `return 2;` [src/b.c:1]
| Fine?
model
| Yes.

disk src/b.c
| int two(void) { return 3; }
user
| @tslp off src/a.c
| @tslp accept src/b.c
| @tslp clear
| Go on.
