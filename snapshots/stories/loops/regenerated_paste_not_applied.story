# Nobody has saved the answer before another one is asked for: the paste is true again.
law 15.4, engine 8 | A regenerated turn takes back what nobody saved, and nothing that disk has held only since

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

user
| src/a.c
| ```c
| int add(int a, int b) { return b + a; }
| ```
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```

back 1
again
