# A function that disk has otherwise goes out of the listing that showed it; what stands beside it
# stays.
law 15.6 | A version that disk contradicts leaves listings as well, where the prompt names the definition | no_longer_current

disk src/a.py
| def a(x):
|     return x + 1
|
| def b(x):
|     return x + 2
user
| ```python:src/a.py
| def a(x):
|     return x + 1
|
| def b(x):
|     return x + 2
| ```
| What does `b` do?
model
| It adds two.

disk src/a.py
| def a(x):
|     return x + 100
|
| def b(x):
|     return x + 2
user
| Let `a` refuse what is less than zero.
model
| ```python
| def a(x):
|     if x < 0:
|         raise ValueError(x)
|     return x + 1
| ```
