# A file that is locked and gone: nothing goes to the model, and the next window isn't concerned.
law engine 8 | Where one can't be shown nothing goes out | lock_miss

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
disk src/b.c
| int subtract(int a, int b) {
|     return a - b;
| }
user
| @tslp accept src/a.c src/b.c
model
| Noted.

user
| @tslp lock src/a.c
| What does `add` do?
model
| It adds.

gone src/a.c
user
| And `subtract`?
client B
user
| What does `subtract` do?
