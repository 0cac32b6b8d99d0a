# A bare method that shares few words with the only one of its name that was shown is that one.
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
| Rewrite `Stock.total` with the library.
model
| ```python
| def total(self):
|     return pricing.evaluate(self.items, currency=pricing.EUR, rounding=pricing.HALF_EVEN)
| ```
