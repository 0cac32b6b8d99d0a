# A bare method in a fence replaces the method that was shown, with a new one after it; the class
# stays.
law 4.1 (1) | A method out of its class that defines just that in the method's place: CONFIRMED | edit_applied

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
| Make `Stock.total` skip what has no price.
model
| ```python
| def total(self):
|     total = 0
|     for item in self.items:
|         if item.price is not None:
|             total += item.price * item.qty
|     return total
|
| def mean(self):
|     return self.total() / self.count()
| ```
