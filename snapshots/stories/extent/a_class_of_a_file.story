# The model gives one class with all its methods: a part of the file, however many names it
# defines.

user
| ```python:src/item.py
| import json
|
| class Item:
|     def price(self):
|         return self.net * 1.2
|
|     def name(self):
|         return self.title
|
| def load(path):
|     return json.load(open(path))
| ```
| Let `Item.price` round.
model
| ```python:src/item.py
| class Item:
|     def price(self):
|         return round(self.net * 1.2, 2)
|
|     def name(self):
|         return self.title
| ```
