# A statement that is derived goes with its inputs and comes back with them; one from nothing that
# is kept, or from itself, is refused.
law engine 8 | What is derived holds as long as what it is derived from | record_without_inputs, record_ungrounded

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| @tslp note fact #plain: It doesn't check. `return a + b;` [src/a.c]
| @tslp note derived #risk: It may overflow. from #plain
| @tslp note derived #none: It is nothing. from #nothing
| @tslp note derived #plain: It is itself. from #risk
| What about #risk?
model
| It may.

disk src/a.c
| int add(int a, int b) {
|     return checked(a, b);
| }
user
| @tslp accept src/a.c
| And #risk now?
model
| It may not.

user
| @tslp forget #plain
| And #risk now?
model
| It is open.

client B
user
| What about #risk?
