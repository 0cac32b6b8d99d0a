# A fact is shown with the code that it quotes; once that is gone it is taken back, once, and with
# it it comes back, also moved.
law engine 8 | What the user keeps for the project is shown as long as what it quotes is true ([memory.md](memory.md#notes)) | record_noted

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
| @tslp note fact #add.plain: It doesn't check for overflow. `return a + b;` [src/a.c:2]
| What does `add` do?
model
| It adds.

disk src/a.c
| int add(int a, int b) {
|     return checked(a, b);
| }
user
| @tslp accept src/a.c
| And `add` now?
model
| It checks.

user
| Sure about `add`?
model
| Yes.

disk src/a.c
| int zero(void) {
|     return 0;
| }
|
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
| And `add` now?
