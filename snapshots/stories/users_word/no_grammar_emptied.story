# An edit that empties a file that no grammar reads is refused.

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
| {"path": "docs/plan.md", "old_string": "\n\nShip it on Monday, and tell everybody who waits for it.", "new_string": ""}
model
| I empty it.
