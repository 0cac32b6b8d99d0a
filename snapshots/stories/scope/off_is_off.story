# What is off isn't hydrated, by the last rule that means it; the model is told once.
law engine 8 | What the user turns off isn't shown, by the last rule that means it; both are answered | off_by_user, turned_off, turned_on

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
| @tslp off src/*.c
| @tslp on src/b.c
| What do `add` and `subtract` do?
model
| I see only one of them.

user
| And `add`?
