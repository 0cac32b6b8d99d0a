# A SEARCH/REPLACE block without a path applies to the one file of the conversation that holds its
# text.

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
| Make load() of stock.py skip empty lines.
model
| <<<<<<< SEARCH
|         return [line.strip() for line in lines]
| =======
|         return [line.strip() for line in lines if line.strip()]
| >>>>>>> REPLACE
