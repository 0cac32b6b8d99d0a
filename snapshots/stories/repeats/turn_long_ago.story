# A later turn is asked for again after more exchanges than are remembered: its words are known,
# and its conversation went on.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

user
| Hello
model
| Hi.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

disk src/a.c
| int add(int a, int b) { int sum = a; return sum + b; }
user
| One.
model
| 1

user
| Two.
model
| 2

user
| Three.
model
| 3

user
| Four.
model
| 4

user
| Five.
model
| 5

back 11
again
