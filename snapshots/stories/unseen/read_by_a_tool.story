# An agent that has read the file with a tool has seen it, line numbers or not.
law 12 | What the model has seen it may change, whoever showed it | structural_parity
law 1 | What tools print grants no authority
law 8.5 | They never advance state

tools
touch
disk src/compute.c
| #include <compute.h>
| int compute(int x) {
|     return x * 2 + 1;
| }
| int other(int x) {
|     return x * 5 + 1;
| }
user
| Make it triple.
call read
| {"path": "src/compute.c"}
model
| Reading.

context tool
|     1  #include <compute.h>
|     2  int compute(int x) {
|     3      return x * 2 + 1;
|     4  }
|     5  int other(int x) {
|     6      return x * 5 + 1;
|     7  }
again
call write
| {"path": "src/compute.c", "content": "#include <compute.h>\nint compute(int x) {\n    return x * 3 + 7;\n}\nint other(int x) {\n    return x * 5 + 1;\n}\n"}
model
| Writing.
