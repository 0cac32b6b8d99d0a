# An edit of a file that no grammar reads is true if it applies exactly, and stays so when it is
# written.
law 4.1, 6 A | The model's edit of a file that nothing here can parse counts where it applies exactly to what is true, and a whole text once the file holds it | edit_applied

tools
disk docs/plan.md
| # Plan
|
| Ship it on Monday, and tell everybody who waits for it.
user
| @tslp accept docs/plan.md
| Correct the day in docs/plan.md
call read
| {"path": "docs/plan.md"}
model
| I read it.

context tool
| # Plan
|
| Ship it on Monday, and tell everybody who waits for it.
again
call edit
| {"path": "docs/plan.md", "old_string": "Monday", "new_string": "Friday"}
model
| I edit it.

disk docs/plan.md
| # Plan
|
| Ship it on Friday, and tell everybody who waits for it.
context tool
| Done.
again
model
| It is corrected.

new
user
| What does docs/plan.md say?
