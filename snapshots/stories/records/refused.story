# A quotation that doesn't stand there, one that stands there twice, a file that is off, a
# credential, and what is written otherwise.
law engine 8 | What the user keeps isn't kept where it proves nothing | record_not_usable, quotation_missing, quotation_ambiguous

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| @tslp note fact #a: It subtracts. `return a - b;` [src/a.c]
| Go on.
model
| Yes.

user
| @tslp note fact #b: It is there. `int` [src/a.c]
| Go on.
model
| Yes.

user
| @tslp off src/a.c
| @tslp note fact #c: It adds. `return a + b;` [src/a.c]
| Go on.
model
| Yes.

user
| @tslp note fact #d: The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789
| @tslp note rumour #e: It is so.
| @tslp forget #f
| Go on.
