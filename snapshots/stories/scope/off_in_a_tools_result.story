# A result of a call that names the file goes, of a search only its lines; the call and all else
# stay.
law engine 8 | What the user turns off isn't shown where a client's messages hold it: by path, or by what is in it | off_in_message

full what the model saw

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
disk src/b.c
| int subtract(int a, int b) {
|     return a - b;
| }
user
| @tslp accept src/a.c src/b.c
model
| Noted.

user
| @tslp off src/a.c
tools
user
| Look around.
call read
| {"path": "src/a.c"}
model
|

context tool
| int add(int a, int b) {
|     return a + b;
| }
again
call bash
| {"command": "grep -n return src/*.c"}
model
|

context tool
| src/a.c:2:    return a + b;
| src/b.c:2:    return a - b;
again
model
| Done.
