# An edit quotes what it replaces; what it made is the model's own, so the whole file may follow.
law 12 | What the model has seen it may change, whoever showed it | structural_parity

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
call edit
| {"path": "src/compute.c", "oldString": "    return x * 2 + 1;", "newString": "    return x * 3 + 1;"}
model
| Editing.

disk src/compute.c
| #include <compute.h>
| int compute(int x) {
|     return x * 3 + 1;
| }
| int other(int x) {
|     return x * 5 + 1;
| }
context tool
| Edited.
again
call write
| {"path": "src/compute.c", "content": "#include <compute.h>\nint compute(int x) {\n    return x * 3 + 7;\n}\nint other(int x) {\n    return x * 5 + 1;\n}\n"}
model
| Writing.
