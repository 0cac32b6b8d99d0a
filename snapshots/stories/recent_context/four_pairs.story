# The window holds the last four pairs, oldest first, and of the client's messages only the prompt
# goes out.
law 8.4 | Four pairs, oldest first
law 8.4 | The last four pairs

full which pairs the window holds, and in which order
policy history window

user
| Question 1.
model
| Answer 1.

user
| Question 2.
model
| Answer 2.

user
| Question 3.
model
| Answer 3.

user
| Question 4.
model
| Answer 4.

user
| Question 5.
model
| Answer 5.

user
| Question 6.
model
| Answer 6.

user
| Question 7.
