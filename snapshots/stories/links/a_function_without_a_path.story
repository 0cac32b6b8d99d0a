# A fence without a path and without a language: its function is that of the one file that the
# model was shown.

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

user
| Make load() skip empty lines.
model
| Sure!
|
| ```
| def load(path):
|     with open(path) as lines:
|         return [line.strip() for line in lines if line.strip()]
| ```
