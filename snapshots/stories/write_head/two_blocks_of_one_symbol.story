# One message pastes a function twice: the later one is the user's word.

user
| Before:
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
| After:
| ```c:src/a.c
| int a(int x) { return x + 2; }
| ```
