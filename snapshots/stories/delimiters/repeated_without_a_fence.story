# Code without a fence in a repeated block is read as far as it parses, and judged as any other.
law 8.2 | What a model repeats of it is that entity's code, and judged | ast_match

user
| src/a.py
| ```python
| def a(x):
|     if x < 0:
|         raise ValueError(x)
|     return x + 1
| ```
model
| Fine.

new
user
| Let `a` add two.
model
| [CURRENT STATE: AUTHORITATIVE]
| Entity: src/a.py::a
|
| def a(x):
|     return x + 2
| [END CURRENT STATE]
|
| The function adds two now.

user
| Show me `a`.
