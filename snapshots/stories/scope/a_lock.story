# A locked file is shown whole, nothing else is, a change of another is refused until the user
# confirms it; unlocked, all is as before. The lock wins over off.
law engine 8 | Locked files are shown whole and nothing else is; changes of others are the user's to confirm | locked, bypassed_by_lock, within_lock, outside_lock, unlocked

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
| @tslp off src/a.c
| @tslp lock src/a.c
| What does `subtract` do? Make it check.
model
| src/b.c
| ```c
| int subtract(int a, int b) {
|     if (a < b) return 0;
|     return a - b;
| }
| ```

user
| @tslp unlock
| What does `subtract` do?
