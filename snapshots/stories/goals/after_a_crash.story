# An agent's client is gone in the middle of a reply: the next agent's conversation is told once,
# a plain chat isn't.
law engine 8 | What the work is for is the user's to say; a conversation that begins is told, until it is done; so is an agent's of work that was left unfinished | goal_told

full what the model saw

tools
user
| Make the scanner faster, please.
model gone
| I will

new
user
| Hello.
model
| Hello.

user
| What now?
model
| I go on.

new
user
| Something else entirely.
