# A prompt whose reply broke off is in no window.

policy history window

user
| First.
model
| One.

user
| Second.
model broken
| Tw

back 2
user
| Third.
