# The model's answer became true and nobody has saved it: another answer is asked for, over what
# the user accepted.
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

disk src/a.c
| int add(int a, int b) { return b + a; }
user
| @tslp accept src/a.c
| Now improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = a; return sum + b; }
| ```

back 1
again
