# What another conversation changed is withheld where this one shows the old code, and stays as it
# is where the prompt shows the new one.

touch
tools
disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
user
| Make the addition in src/a.c saturate, please.
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int add(int a, int b)
| 2: {
| 3:     return a + b;
| 4: }
| 5:
| 6: int sub(int a, int b)
| 7: {
| 8:     return a - b;
| 9: }
again
model
| I see.

client B
user
| src/a.c
| ```c
| int sub(int a, int b)
| {
|     return b - a;
| }
| ```
model
| Noted.

disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return b - a;
| }
client A
user
| Go on.
model
| Yes.

user
| What does sub() do?
