# A function that the user asks to remove is left out of the class as it is listed, or of the
# file: it goes. What else a listing lacks stays.
law 9.2, 12 | What the user asks to remove, rename or move, and an edit spells out or a listing leaves out of all that was around it, is tombstoned; anything else that it takes away is refused | omitted_by_update, symbols_lost

disk src/m.py
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax
|         return result
|
|     def empty(self):
|         with self.lock:
|             return not self.items
|
| def helper(x):
|     y = x + 1
|     return y * 2
user
| @tslp accept src/m.py
model
| Noted.

user
| What is in src/m.py?
model
| A cart.

user
| Improve `Cart`.
model
| ```python
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax
|         return result
| ```

user
| Remove `Cart.empty`.
model
| ```python
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax
|         return result
| ```

user
| Delete the helper function in src/m.py.
model
| src/m.py
| ```python
| class Cart:
|     def total(self, tax):
|         result = 0
|         for item in self.items:
|             result += item.price * tax
|         return result
| ```
