# Code that is STALE and withheld from the recent turns is named in a notice, though the prompt
# doesn't name it.
law 15.4 | What is withheld from older messages because it is STALE is named in one notice, whoever names it | stale
law 15.4 | A STATE NOTICE

policy history window

disk src/a.c
| int a(int x) { return x + 1; }
user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
model
| Fine.

disk src/a.c
| int a(int x) { return x - 1; }
user
| Write a poem.
