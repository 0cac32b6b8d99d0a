# One tool that asks for the weather reads no file: what the prompt names is shown, and the good reply is
# taken.

tools elsewhere
disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
user
| src/a.c
| ```c
| int add(int a, int b)
| {
|     return a + b;
| }
| ```
model
| Noted.

user
| Make add() in src/a.c saturate.
model
| src/a.c
| ```c
| int add(int a, int b)
| {
|     int sum = a + b;
|     return sum < a ? a : sum;
| }
| ```
