# A request that offers tools keeps the client's own messages.
law engine 7 | The client's own messages go along, unless the window is asked for
law 8.5 | What tools print is recorded as a message, or as evidence, and is no code
law 8.5 | Tool calls and results are on record

tools
user
| First.
model
| One.

user
| Second.
