# Of two classes' methods of a name one was shown alone: a bare method is that one, and what holds
# it needn't have been seen.

disk stock.py
| class Stock:
|     def total(self):
|         total = 0
|         for item in self.items:
|             total += item.price * item.qty
|         return total
|
|     def count(self):
|         return len(self.items)
|
| class Order:
|     def total(self):
|         total = 0
|         for item in self.lines:
|             total += item.price * item.qty
|         return total
user
| @tslp accept stock.py
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
| ```
