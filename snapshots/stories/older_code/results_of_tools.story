# A file's bare text, its numbered lines, or a text in JSON, in a tool's older result.
law 15.6, engine 7 | Older code is found in tools' results and calls' arguments, too, and told at the prompt's end where the client has tools; line ends make no difference
law 15.6 | The model never sees stale code, in older messages neither

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
| Read src/a.c and list the folder.
call read_file
| {"path": "src/a.c"}
call list
| {"path": "src"}
model
| Reading.

context tool
| int add(int a, int b) { return a + b; }
|
| int sub(int a, int b) { return a - b; }
context tool
| a.c b.c
context assistant
| I have read it.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
context assistant
| I read it with numbers.
context tool
|      1	int add(int a, int b) { return a + b; }
|      2	
|      3	int sub(int a, int b) { return a - b; }
context assistant
| In JSON, too.
context tool
| {"output": "int add(int a, int b) { return a + b; }\n", "status": 0}
context assistant
| Yes.
user
| Once more: `add`?
