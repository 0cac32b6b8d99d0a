# An agent's edit that breaks a rule isn't taken, though the client has made it; the model is told
# with the tool's result, by the file's lines.
law engine 5 | What the user's rules for code forbid isn't taken, named by line, until the user confirms it; what was there before is no fault of the change | spec_met, spec_broken

policy spec forbid call: gets

disk src/a.c
| #include <stdio.h>
|
| int ask(char *line)
| {
|     return fgets(line, 80, stdin) != 0;
| }
tools
touch
user
| Simplify ask() in src/a.c.
call edit
| {"path": "src/a.c", "old_string": "    return fgets(line, 80, stdin) != 0;", "new_string": "    return gets(line) != 0;"}
model
| I edit it.

disk src/a.c
| #include <stdio.h>
|
| int ask(char *line)
| {
|     return gets(line) != 0;
| }
context tool
| Edited.
again
model
| Done.
