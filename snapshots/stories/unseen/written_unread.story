# An agent that writes over a file without having read it: refused, and what its client wrote all
# the same doesn't become true by being on disk.
law 12, 2 | Nothing that went to the model shows the base: neither hydrated code, nor the client's messages with what tools read, nor an edit of the model's own | base_unacknowledged

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
call write
| {"path": "src/compute.c", "content": "#include <compute.h>\nint compute(int x) {\n    return x * 3 + 7;\n}\nint other(int x) {\n    return x * 5 + 1;\n}\n"}
model
| Writing.

disk src/compute.c
| #include <compute.h>
| int compute(int x) {
|     return x * 3 + 7;
| }
| int other(int x) {
|     return x * 5 + 1;
| }
context tool
| Written.
again
model
| Done.

user
| @tslp accept src/compute.c
