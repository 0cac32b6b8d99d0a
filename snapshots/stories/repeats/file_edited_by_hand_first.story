# The paste is what is true, disk was edited since: it stays STALE, and nobody has acknowledged
# the edit.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
| Explain `add`.
model
| It adds.

disk src/a.c
| int add(int a, int b) { return b + a; }
back 1
again
