# A file that is true as a whole is shown as a whole, its functions not again; one known by parts
# is shown by parts.
law 8.1 | What the prompt names is shown: what is true of a file that it names | file_mentioned

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
| Explain src/b.c
model
| Fine.

user
| Explain src/a.c
