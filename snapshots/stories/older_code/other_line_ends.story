# Line ends, trailing blanks and common indentation are no difference here either.
law 15.6, engine 7 | Older code is found in tools' results and calls' arguments, too, and told at the prompt's end where the client has tools; line ends make no difference

policy history client

user
| ```c:src/a.c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| Noted.

user
| As my editor has it:
| ```c:src/a.c
| int add(int a, int b) {
|     return a + b;
| }
| ```
model
| The same, indented:
| ```c
|     int add(int a, int b) {
|         return a + b;
|     }
| ```

user
| ```c:src/a.c
| int add(int a, int b) { return a + b + 1; }
| ```
| I have changed it.
