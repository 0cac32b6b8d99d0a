# An entity under proposal in this session stays hydrated, though the prompt doesn't name it.
law engine 7 | What is under proposal stays shown | under_proposal

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
| Change `second`
model
| ```c:src/a.c
| int second(int x) { /* ... */ }
| ```

user
| Once more, in full.
