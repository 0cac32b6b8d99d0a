# Two methods in one fence go each into its own class.
law 4.1 (1) | A method that the heading or the prompt names with its class is that one, and no other of its name | edit_applied

disk shop.py
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax
|         return result
|
|     def names(self):
|         return [item.name for item in self.items]
|
| class Basket:
|     def total(self, tax):
|         result = 1
|         for item in self.items:
|             result += item.price * tax
|         return result
user
| @tslp accept shop.py
model
| Noted.

user
| Sort what shop.py::Cart.names gives, and round shop.py::Basket.total.
model
| shop.py
| ```python
| def total(self, tax):
|     result = 1
|     for item in self.items:
|         result += item.price * tax
|     return round(result)
|
| def names(self):
|     return sorted(item.name for item in self.items)
| ```
