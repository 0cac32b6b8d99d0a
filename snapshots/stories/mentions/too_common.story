# A name that stands for more than eight entities means none of them.
law engine 7 | A name that means too many means none | ambiguous_name

user
| ```c:src/f0.c
| int common_name(int x) { return x + 0; }
| ```
| ```c:src/f1.c
| int common_name(int x) { return x + 1; }
| ```
| ```c:src/f2.c
| int common_name(int x) { return x + 2; }
| ```
| ```c:src/f3.c
| int common_name(int x) { return x + 3; }
| ```
| ```c:src/f4.c
| int common_name(int x) { return x + 4; }
| ```
| ```c:src/f5.c
| int common_name(int x) { return x + 5; }
| ```
| ```c:src/f6.c
| int common_name(int x) { return x + 6; }
| ```
| ```c:src/f7.c
| int common_name(int x) { return x + 7; }
| ```
| ```c:src/f8.c
| int common_name(int x) { return x + 8; }
| ```
model
| Fine.

new
user
| Explain common_name.
