# The prompt or the heading names a method with its class: code under it isn't that of another
# class which was shown, not even where \          disk has changed the one that is meant.
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
| What does shop.py::Basket.total do?
model
| It counts.

disk shop.py
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax * 2
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
| Round shop.py::Cart.total, please.
model
| shop.py::Cart.total
| ```python
| def total(self, tax):
|     result = 0
|     for item in self.items:
|         result += item.price * tax
|     return round(result)
| ```

user
| Round shop.py::Basket.total, please.
model
| ```python
| def total(self, tax):
|     result = 1
|     for item in self.items:
|         result += item.price * tax
|     return round(result)
| ```
