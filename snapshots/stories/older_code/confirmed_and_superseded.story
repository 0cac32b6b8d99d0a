# A refused proposal stays in sight; once it was confirmed and something else took its place, it
# is withheld.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

policy history client

user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b) { return a + b + 1; }
user
| Turn `add` round.
model
| ```c:src/a.c
| int add(int a, int b) { return b + a; }
| ```

user
| Is that all of it?
model
| Yes.

user
| @tslp confirm src/a.c::add
model
| Good.

user
| ```c:src/a.c
| int add(int a, int b) { return a - -b; }
| ```
| Mine is better.
