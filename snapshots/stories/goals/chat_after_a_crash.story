# A chat without tools broke off: one about something else is told nothing, the next one about the
# same file is told, once.
law engine 8 | What the work is for is the user's to say; a conversation that begins is told, until it is done; so is an agent's of work that was left unfinished | goal_told

disk src/scan.c
| int scan(void) {
|     return one() + two();
| }
user
| @tslp accept src/scan.c
| Make scan in src/scan.c faster, please.
model gone
| I will

new
user
| What is a monad?
model
| A wrapper.

new
user
| What is left to do in src/scan.c?
model
| Nothing.

new
user
| What does src/scan.c do?
