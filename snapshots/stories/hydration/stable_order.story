# What was hydrated first stays first, whatever order the next prompts name things in.
law engine 7 | First hydrated, first in the block

user
| ```c:src/a.c
| int first(int x) { return x + 1; }
| int second(int x) { return x + 2; }
| int third(int x) { return x + 3; }
| ```
| ```c:src/b.c
| #include <b.h>
| int whole(int x) { return x + 4; }
| ```
model
| Fine.

new
user
| Explain second()
model
| Fine.

user
| Explain first() and second()
model
| Fine.

user
| Explain third(), first() and second()
