# The texts in a tool call's arguments are replaced by the marker, and the arguments stay JSON.
law 15.6, engine 7 | Older code is found in tools' results and calls' arguments, too, and told at the prompt's end where the client has tools; line ends make no difference

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

new
tools
user
| Write it again, then change `sub`.
call write_file
| {"path": "src/a.c", "content": "int add(int a, int b) { return a + b; }\n\nint sub(int a, int b) { return a - b; }\n"}
call edit
| {"path": "src/b.c", "old_string": "", "new_string": "int other(void) { return 1; }\n"}
call multi_edit
| {"path": "src/a.c", "edits": [{"old_string": "int add(int a, int b) { return a + b; }", "new_string": "int add(int a, int b) { return b + a; }"}]}
call read_file
| {"path": "src/a.c"}
model
| Writing.

context tool
| written
context assistant
| Done.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
