# A SEARCH/REPLACE block holds the old and the new code; read as code it would be both.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

user
| Change a()
model
| src/a.c
| ```c
| <<<<<<< SEARCH
| int a(int x) { return x + 1; }
| =======
| int a(int x) { return x + 7; }
| >>>>>>> REPLACE
| ```
