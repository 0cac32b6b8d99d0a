# A client that sends only its last exchange back still continues its session.

context
| Context 1.
user
| First.
model
| One.

new
context
| Context 2.
context
| First.
context assistant
| One.
user
| Second.
