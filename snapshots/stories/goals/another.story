# A second goal takes the place of the first, with all that was said of that.

full what the model saw

user
| @tslp goal Make the parser fast
| @tslp goal next: measure it
| Go on, please.
model
| Yes.

new
user
| @tslp goal Write the manual
| Which chapters does it have?
model
| Three.

new
user
| Hello.
