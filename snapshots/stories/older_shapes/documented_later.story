# A function that was given a comment is true with it, though what stands below the comment was
# replaced.

disk src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| ```c:src/a.c
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
| ```
model
| Noted.

disk src/a.c
| // Adds two numbers.
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
user
| @tslp accept src/a.c
model
| Yes.

new
tools
user
| Read it.
call bash
| {"command": "cat src/a.c"}
call bash
| {"command": "make && cat src/a.c"}
model
| Reading.

context tool
| // Adds two numbers.
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
context tool
| Output:
| // Adds two numbers.
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
context assistant
| With its comment:
| ```c
| // Adds two numbers.
| int add(int a, int b) { return a + b; }
| ```
| With another:
| ```c
| // Adds.
| int add(int a, int b) { return a + b; }
| ```
user
| And now `add`?
