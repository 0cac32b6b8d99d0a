# Tools read files, but code that was only pasted is in none: it is shown.

tools
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
