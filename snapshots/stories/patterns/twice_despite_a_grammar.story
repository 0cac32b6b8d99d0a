# A grammar knows of both where they end; that the model defines one name twice is refused all the
# same.

user
| ```python:src/calc.py
| def add(a, b):
|     return a + b
| ```
| Make `add` work for strings.
model
| ```python:src/calc.py
| def add(a, b):
|     return str(a) + str(b)
|
| def add(a, b):
|     return a + b
| ```
