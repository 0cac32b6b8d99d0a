# An edited earlier turn forks the session at the last exchange that both share.
law engine 7 | An edited or regenerated turn forks a session; two windows with one opening don't mix

user
| First.
model
| One.

user
| Second.
model
| Two.

back 2
user
| Second, but otherwise.
model
| Two, but otherwise.

user
| Third.
