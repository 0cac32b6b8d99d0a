# A complete file without a path is that file.
law 4.1 (1) | Without a path, definitions of one tracked file (of several, the conversation's) with enough of their words, all of which the model was shown: CONFIRMED | ast_match

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
| Make count() of stock.py ignore empty items.
model
| ```python
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
|         return len([item for item in self.items if item.qty])
|
| def load(path):
|     with open(path) as lines:
|         return [line.strip() for line in lines]
| ```
