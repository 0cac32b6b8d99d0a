# A new file that the model wrote in part is never taken as the user's.

touch
tools
user
| Write src/b.c, please.
call write
| {"path": "src/b.c", "content": "int twice(int x)\n{\n    // ... existing code ...\n}\n"}
model
| I write it.

disk src/b.c
| int twice(int x)
| {
|     // ... existing code ...
| }
context tool
| Written.
again
model
| Done.

user
| What does twice() in src/b.c do?
