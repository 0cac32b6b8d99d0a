# An edit of a file that no grammar reads is refused if its text isn't there.

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
| {"path": "docs/plan.md", "old_string": "Tuesday", "new_string": "Friday"}
model
| I edit it.
