# Nobody knows what the file holds by now: the newer code stays true, withheld as it is.

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
locked src/a.c
back 1
again
