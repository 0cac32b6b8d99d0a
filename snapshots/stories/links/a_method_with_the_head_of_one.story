# Two methods of a name were shown, and one is so short that any code holds its words: the head
# that comes back tells which is meant.
law 4.1 (1) | A method out of its class that defines just that in the method's place: CONFIRMED | edit_applied

disk stock.py
| class Stock:
|     def total(self, skip):
|         total = 0
|         for item in self.items:
|             if item not in skip:
|                 total += item.price * item.qty
|         return total
|
| class Order:
|     def total(self):
|         return self.total
user
| @tslp accept stock.py
model
| Fine.

user
| Look at `Order.total`, and make `Stock.total` skip what has no price.
model
| ```python
| def total(self, skip):
|     total = 0
|     for item in self.items:
|         if item not in skip and item.price is not None:
|             total += item.price * item.qty
|     return total
| ```
