# A file that no grammar reads is true as a whole once it is pasted as disk holds it, and STALE
# when it changes.
law 4.1, 9.1 | A file that nothing here can parse is true as a whole where disk or the user's paste holds it | exact_match

disk docs/plan.md
| # Plan
|
| Ship it.
user
| ```md:docs/plan.md
| # Plan
|
| Ship it.
| ```
model
| Noted.

new
user
| What does docs/plan.md say?
model
| It says to ship.

disk docs/plan.md
| # Plan
new
user
| And docs/plan.md now?
