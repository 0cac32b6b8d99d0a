# Code below a line with its path is the user's word without a fence, too; the words behind it
# aren't code.
law 9.1 | Code without a fence, below a line with its path, is the user's word where it parses | write_head

user
| Take this over:
|
| src/add.c
| int add(int a, int b) {
|     return a + b;
| }
|
| int sub(int a, int b) {
|     return a - b;
| }
|
| Keep it in mind, please.
| src/add.py:
| def add(a, b):
|     return a + b
