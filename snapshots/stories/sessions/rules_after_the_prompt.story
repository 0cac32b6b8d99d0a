# A client adds its rules to the current prompt alone and sends its history without them: the
# session goes on.

context
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
user
| Change a()
|
| Reply in the format of the rules.
model
| ```c:src/a.c
| int a(int x) {
|     // ... existing code ...
| }
| ```

back 2
context
| Change a()
context assistant
| ```c:src/a.c
| int a(int x) {
|     // ... existing code ...
| }
| ```
user
| In full, please.
|
| Reply in the format of the rules.
