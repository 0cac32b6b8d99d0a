# Code in the window that is no longer true is replaced by a line; code that is true stays.
law 8.4 | Read-only; outdated code in it is withheld

full a marker in the window
policy history window

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Better:
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```

user
| Thanks.
