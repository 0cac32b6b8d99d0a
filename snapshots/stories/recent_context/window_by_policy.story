# Under `history window` a conversation that the ledger doesn't know is cut down to its own last
# turns.
law engine 7 | The client's own messages go along, unless the window is asked for

policy history window

context
| Some context.
user
| First.
model
| One.

user
| Second.
