# Cleared beside a tool's result: the turn that it belongs to goes on whole, what came before it
# is left out.

full what the model saw

tools
user
| Hello.
model
| Hello.

user
| What is in it?
model
| I look.

call read
| {"path": "a.txt"}
context tool
| One.
user
| @tslp clear
| And then stop.
model
| One.

user
| Thanks.
