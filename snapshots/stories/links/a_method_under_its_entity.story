# Our own template's words name the file: a method below them is that of the class.

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
| Make `Stock.count` return 0 without items.
model
| Entity: stock.py::Stock.count
| Artifact: 0123456789ab
|
| ```python
|     def count(self):
|         return len(self.items or [])
| ```
