# A regenerated last reply: the session forks before it and knows nothing of the first answer.
law engine 7 | An edited or regenerated turn forks a session; two windows with one opening don't mix

user
| First.
model
| One.

user
| Second.
model
| Two.

back 1
again
model
| Deux.

user
| Third.
