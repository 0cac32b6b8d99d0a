# What can't be accepted is answered with why.
law engine 8 | What can't be accepted is answered with why: no such file | file_missing
law engine 8 | What can't be accepted is answered with why: no such definition in the file | symbol_missing
law engine 8 | What can't be accepted is answered with why: a folder, or a file that can't be read | file_unreadable
law engine 8 | What can't be accepted is answered with why: a language that isn't read | language_not_read
law engine 8 | What can't be accepted is answered with why: nothing that parses | nothing_to_accept

disk src/a.c
| int add(int a, int b) { return a + b; }
disk notes.txt
| Nothing.
disk src/empty.c
|
locked src/locked.c
user
| @tslp accept src/none.c
| @tslp accept src/a.c::sub
| @tslp accept src/locked.c
| @tslp accept notes.txt::plan
| @tslp accept src/empty.c
model
| Fine.

user
| @tslp accept src/a.c
