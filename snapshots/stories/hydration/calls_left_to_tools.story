# The client's message holds a file that calls `ring_pop`, and the user's words name `ring_room`:
# this one is shown.

# After it has summed up a conversation, Qwen Code puts files that were read into a user message
# of its own. It cost the code of everything that those files call, in each step.

disk src/ring.c
| int ring_pop(void) { return 1; }
| int ring_room(void) { return 2; }
user
| @tslp accept src/ring.c
model
| Noted.

tools
user
| Recently accessed file (full current content embedded):
|
| ## src/token.c
|
| ```
| int advance(void) { return ring_pop(); }
| ```
|
| Does `ring_room` fit?
model
| Yes.
