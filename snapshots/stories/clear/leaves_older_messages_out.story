# Two exchanges, cleared with the third prompt: the model sees neither of them then nor later, and
# where the work stands once.
law engine 8 | A conversation is cleared where its user's prompt begins: older messages go to no model any more, and where the work stands is told once ([memory.md](memory.md)) | context_cleared

full what the model saw

context system
| Be brief.
user
| @tslp goal Make the parser fast
| Make the scanner faster.
model
| ```c:src/scan.c
| int scan(void) {
|     return 1;
| }
| ```

user
| And the printer?
model
| It is fast.

user
| @tslp clear
| Now the lexer.
model
| It is slow.

user
| Why?
