# What the file says in comments isn't code: a function that the user saves without its comment, or
# with another, stays true, with the text that the file holds. A docstring is code.

user
| ```python:a.py
| def one(x):
|     return x + 1
|
|
| def two(x):
|     """Adds two."""
|     return x + 2
| ```
| Make both take a step.
model
| ```python:a.py
| # Adds a step to x.
| def one(x, step):
|     # One step.
|     return x + step  # the sum
|
|
| def two(x, step):
|     """Adds two."""
|     return x + 2 * step
| ```

disk a.py
| def one(x, step):
|     # A single one.
|     return x + step
|
|
| def two(x, step):
|     """Adds two."""
|     return x + 2 * step
user
| What do `one` and `two` do?
model
| They add.

disk a.py
| def one(x, step):
|     # Another one.
|     return x + step
|
|
| def two(x, step):
|     """Adds two steps."""
|     return x + 2 * step
user
| And now `one` and `two`?
model
| They add.

disk a.py
| def one(x, step):
|     # Another one.
|     return x - step
|
|
| def two(x, step):
|     """Adds two."""
|     return x + 2 * step
user
| And now `one` and `two`?
