# Somebody edits one function: in older messages that one alone is withheld, line for line, once
# and for ever; the rest of the listing stays.
law 15.6 | Code that an older message shows, and that was changed where the conversation doesn't show it, is withheld there, once and for ever; a client with tools is told at the prompt's end

touch
tools
disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return a - b;
| }
user
| Make the addition in src/a.c saturate, please.
call read
| {"path": "src/a.c"}
model
| I read it.

context tool
| 1: int add(int a, int b)
| 2: {
| 3:     return a + b;
| 4: }
| 5:
| 6: int sub(int a, int b)
| 7: {
| 8:     return a - b;
| 9: }
again
call list
| {}
model
| I look around.

disk src/a.c
| int add(int a, int b)
| {
|     return a + b;
| }
|
| int sub(int a, int b)
| {
|     return b - a;
| }
context tool
| src
again
model
| Hm.

context tool
| nothing
again
model
| Done.

user
| Go on.
