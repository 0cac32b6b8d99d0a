# What is left of a class isn't held against the method that the user wants gone.

disk src/a.py
| class Stock:
|     def total(self, items):
|         total = 0
|         for item in items:
|             total += item.price * item.count
|         return total
|
|     def count(self, items):
|         return len(items)
user
| @tslp accept src/a.py
model
| Noted.

user
| Delete `total` from src/a.py, nobody calls it.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|     def total(self, items):
|         total = 0
|         for item in items:
|             total += item.price * item.count
|         return total
|
|     def count(self, items):
| =======
|     def count(self, items):
| >>>>>>> REPLACE
| ```
