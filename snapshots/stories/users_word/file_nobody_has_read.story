# Code for a file that exists and that nobody has read stays a proposal.

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| Please write sub() in src/a.c.
model
| ```c:src/a.c
| int sub(int a, int b) { return a - b; }
| ```
