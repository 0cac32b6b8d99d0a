# JSON in JSON, and lines of JSON: the texts are judged, all else stays as it was written.
law 15.6, engine 7 | Code that is superseded, removed or STALE is withheld from older messages and system messages, whoever said it

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
| Read.
call fetch
| {"id": 1}
call fetch
| {"id": 2}
model
| Reading.

context tool
| [{"type": "text", "text": "{\"path\":\"src/a.c\",\"content\":\"int add(int a, int b) { return a + b; }\\n\",\"size\":1.0}"}]
context tool
| {"path": "src/a.c", "content": "int add(int a, int b) { return a + b; }"}
| {"path": "src/a.c", "content": "int sub(int a, int b) { return a - b; }", "size": 1.0}
| {"path": "vendor/a.c", "content": "int add(int a, int b) { return a + b; }"}
context assistant
| I have read them.
disk src/a.c
| int add(int a, int b) { return a + b + 1; }
|
| int sub(int a, int b) { return a - b; }
user
| And now `add`?
