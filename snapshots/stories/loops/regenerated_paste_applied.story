# The answer was saved before another one is asked for: disk and truth agree, and the old paste
# doesn't change that.
law 15.2, 15.4 | Code in words that were said before doesn't take the place of what came to the file since | said_before
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

disk src/a.c
| int add(int a, int b) { int sum = b; return sum + a; }
back 1
again
