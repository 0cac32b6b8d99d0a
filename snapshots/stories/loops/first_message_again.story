# Nothing stands before the message, so it may as well be another conversation's first: the user
# says it anew.
law 15.4, engine 8 | Where nothing distinguishes another reply from another conversation, code that was said before counts unless the file has changed since, and directives act

disk src/a.c
| int add(int a, int b) { return a + b; }
user
| @tslp accept src/a.c
model
| Noted.

new
disk src/a.c
| int add(int a, int b) { return b + a; }
user
| @tslp accept src/a.c
