# Code that a newer paste contradicts is withheld, though the paste doesn't parse.
law 6 | What a newer paste of the user's contradicts is withheld, though too little of that could be read | contradicted

user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

user
| ```c:src/a.c
| int add(int a, int b, int c) { return a + (b + ; }
| ```
model
| I see.

user
| What does `add` do, and `sub`?
