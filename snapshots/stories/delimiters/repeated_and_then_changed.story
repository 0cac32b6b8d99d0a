# The block is repeated as it was, and the change follows.
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
| Artifact: 0123456789ab
| Source: Confirmed via AST
|
| ```python
| def a(x):
|     if x < 0:
|         raise ValueError(x)
|     return x + 1
| ```
| [END CURRENT STATE]
|
| ```python
| def a(x):
|     if x < 0:
|         raise ValueError(x)
|     return x + 2
| ```

user
| Show me `a`.
