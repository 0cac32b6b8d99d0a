# A session named by the client goes on across new conversations.

session work
user
| First.
model
| One.

new
user
| Second.
model
| Two.
