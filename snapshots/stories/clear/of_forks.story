# The clearing prompt is asked for anew: it clears again. Written anew without the words, it
# doesn't.

full what the model saw

user
| One?
model
| First.

user
| @tslp clear
| Two?
model
| Second.

back 1
again
model
| Another.

back 2
user
| Two, please?
