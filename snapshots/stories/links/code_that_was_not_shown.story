# A conversation that has seen nothing of the file: its code is INFERRED, never true.
law 4.1 (3), 11 | Without a path, definitions of one tracked file, and the model wasn't shown what it would replace: INFERRED, never more | correlated_with_one_file
law 6 A | The entity's resolution is CONFIRMED | confirmed, not_confirmed
law 4 | INFERRED is PROPOSED only
law 4.1 | Then overlap with one known entity
law 6 | Gate A: resolution is CONFIRMED
law 8.3 | The notice after what was INFERRED or UNRESOLVED
law 11 | Likeness is asked of known entities alone
law 11 | It advances nothing by itself

user
| ```python:stock.py
| import math
|
| class Stock:
|     def __init__(self, items):
|         self.items = items
|
|     def total(self):
|         total = 0
|         for item in self.items:
|             total += item.price * item.qty
|         return total
|
|     def count(self):
|         return len(self.items)
|
| def load(path):
|     with open(path) as lines:
|         return [line.strip() for line in lines]
| ```
model
| Fine.

new
user
| Write something that loads lines.
model
| ```python
| def load(path):
|     with open(path) as lines:
|         return [line.strip() for line in lines if line]
| ```

user
| Thanks.
