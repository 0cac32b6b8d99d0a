# The whole text of a file that no grammar reads stays a proposal, also once the file holds it.

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
call write
| {"path": "docs/plan.md", "content": "# Plan\n\nShip it on Friday, and tell everybody who waits for it.\n"}
model
| I write it.

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
