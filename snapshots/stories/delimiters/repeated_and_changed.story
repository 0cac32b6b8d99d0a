# The model answers in the form of our block: its code is its entity's, and the client's copy is
# the same message without our words.
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
|     return x + 2
| ```
| [END CURRENT STATE]
| It adds two now.

user
| Show me `a`.
