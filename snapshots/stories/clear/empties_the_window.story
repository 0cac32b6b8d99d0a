# With the window in the place of older messages, a clear empties it; what comes after is in it
# again.

full what the model saw
policy history window

user
| What is slow?
model
| The scanner.

user
| @tslp clear
| And the printer?
model
| It is fast.

user
| Why?
