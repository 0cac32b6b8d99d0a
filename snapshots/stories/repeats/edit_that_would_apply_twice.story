# The user's edit is on disk. Said again it applies to its own result, and isn't made twice.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| src/a.c
| ```c
| int add(int a, int b) { return a + b; }
| ```
model
| Noted.

new
user
| src/a.c
| <<<<<<< SEARCH
| int add(int a, int b) { return a + b; }
| =======
| int half(int a) { return a / 2; }
| int add(int a, int b) { return a + b; }
| >>>>>>> REPLACE
model
| Noted.

disk src/a.c
| int half(int a) { return a / 2; }
| int add(int a, int b) { return a + b; }
back 1
again
