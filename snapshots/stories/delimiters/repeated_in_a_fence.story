# The block stands in a fence, and has no end.
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
| Here it is:
| ```python
| [CURRENT STATE: AUTHORITATIVE]
| Entity: src/a.py::a
| Artifact: 0123456789ab
| Source: Confirmed via AST
|
| def a(x):
|     if x < 0:
|         raise ValueError(x)
|     return x + 2
| ```

user
| Show me `a`.
