# The comment above a function, which is shown with it, and the licence above all: the user takes
# both out of the file, and nothing is STALE.

disk a.c
| /* Licensed. */
| // Adds one.
| int a(int x) { return x + 1; }
| int b(int x) { return x /* b */ + 2; }
user
| ```c:a.c
| /* Licensed. */
| // Adds one.
| int a(int x) { return x + 1; }
| int b(int x) { return x /* b */ + 2; }
| ```
model
| Fine.

disk a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
user
| What do a() and b() do?
