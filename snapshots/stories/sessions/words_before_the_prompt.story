# A client adds a line in the middle of the current prompt and sends it back without: the session
# goes on.

# Qwen Code puts the date before the user's words, and leaves it out once it goes on in a new
# process. The session got lost, and with it which edits were the model's own: what it had read
# was taken out of its tools' results.

tools
user
| Skills: none.
| It is Sunday.
| What is `add`?
model
| A function.

back 2
context
| Skills: none.
| What is `add`?
context assistant
| A function.
user
| Where?
model
| In a file.
