# Each step goes on in its session, also where the client puts another context in front of every
# request.

tools
context
| The time is 12:00.
user
| Build it.
model
| First.

context tool
| done
again
model
| Second.

new
context
| The time is 12:02.
context
| Build it.
context assistant
| First.
context tool
| done
context assistant
| Second.
context tool
| passed
again
