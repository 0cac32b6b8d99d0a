# The goal is said once; the next conversation is told it with what was asked last, once; done,
# and nothing is told.
law engine 8 | What the work is for is the user's to say; a conversation that begins is told, until it is done; so is an agent's of work that was left unfinished | goal_changed, goal_told

full what the model saw

user
| @tslp goal Make the parser fast
| @tslp goal next: measure it
| What is slow in it?
model
| The scanner.

user
| Make the scanner faster.
model
| Done.

new
user
| Hello.
model
| Hello.

user
| What now?
model
| Measure it.

user
| @tslp goal done
| Thanks.
model
| Welcome.

new
user
| Something else.
