# Code that one file left behind and another holds: it stays, unless it names the file that left
# it behind.
law engine 7 | What is true, and what never was, stays byte for byte

policy history client

user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
| ```
| ```c:src/b.c
| int add(int a, int b) { return a + b; }
| ```
model
| Both the same:
| ```c
| int add(int a, int b) { return a + b; }
| ```

user
| ```c:src/a.c
| int add(int a, int b) { return a + b + 1; }
| ```
| Now they differ.
