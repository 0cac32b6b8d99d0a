# A pasted text that disk doesn't hold isn't true where no grammar reads the file.

disk docs/plan.md
| # Plan
|
| Ship it.
user
| ```md:docs/plan.md
| Another text.
| ```
