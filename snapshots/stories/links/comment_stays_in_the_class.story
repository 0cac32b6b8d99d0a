# A method that begins at the margin, without the comment above it, is as far in as the class has
# it.
law 4.1 (1) | New methods may stand in front of a method that comes out of its class; the comment above it stays its own | edit_applied

user
| stock.py
| ```python
| class Stock:
|     # Sums up.
|     def total(self):
|         result = 0
|         for item in self.items:
|             result += item.price
|         return result
| ```
| Let `Stock.total` begin with one.
model
| stock.py
| ```python
| def total(self):
|     result = 1
|     for item in self.items:
|         result += item.price
|     return result
| ```

user
| Show me `Stock`.
