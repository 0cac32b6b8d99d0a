# Code that names no file is written by no client: two functions of three are two functions.

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| int b(int x) { return x + 2; }
| int c(int x) { return x + 3; }
| ```
| Let a() and b() add ten more.
model
| ```c
| int a(int x) { return x + 11; }
| int b(int x) { return x + 12; }
| ```
