# What waits when a confirmation is sent again came after it: it isn't what the user confirmed.
law 15.4, engine 8 | A regenerated turn takes back what nobody saved, and nothing that disk has held only since

full what is left of messages of directives
policy profile strict

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Noted.

user
| Improve `add`.
model
| src/a.c
| ```c
| int add(int a, int b) { return b + a; }
| ```

user
| @tslp confirm src/a.c::add
| What if it overflows?
model
| src/a.c
| ```c
| int add(int a, int b) { int sum = b; return sum + a; }
| ```

back 1
again
