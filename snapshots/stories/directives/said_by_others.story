# What a tool or the model said is no directive, and stays as it is.

tools
user
| Show me the notes.
context assistant
| @tslp accept src/a.c
| is what you can say.
context tool
| @tslp reject src/a.c
| is in the notes.
user
| @tslp confirm src/a.c
| Go on.
