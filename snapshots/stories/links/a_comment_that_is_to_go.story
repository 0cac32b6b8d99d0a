# The comment above a function is to be deleted: it goes, and the function is as the reply has it.

user
| ```python:a.py
| import log
|
| # It is slow.
| def beta(a):
|     return a * 2
|
| def gamma(a):
|     return a
| ```
model
| Fine.

user
| Delete the comment above `beta` and let it log.
model
| ```python:a.py
| def beta(a):
|     log.info(a)
|     return a * 2
| ```
