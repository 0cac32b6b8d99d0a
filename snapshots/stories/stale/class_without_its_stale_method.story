# Disk has changed one method: an edit of the other one counts, and one of the class itself, or of
# the changed one, doesn't.

disk src/a.py
| class A:
|     base = 1
|
|     def one(self, x):
|         return x + self.base
|
|     def other(self, x):
|         return x - self.base
user
| @tslp accept src/a.py
model
| Noted.

disk src/a.py
| class A:
|     base = 1
|
|     def one(self, x):
|         pass
|
|     def other(self, x):
|         return x - self.base
user
| Let `A.other` in src/a.py take two off.
model
| ```python
| def other(self, x):
|     return x - self.base - 2
| ```

user
| Let `A.other` in src/a.py take three off, from a base of 2.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|     base = 1
| =======
|     base = 2
| >>>>>>> REPLACE
| <<<<<<< SEARCH
|         return x - self.base - 2
| =======
|         return x - self.base - 3
| >>>>>>> REPLACE
| ```

user
| Let `A.one` in src/a.py add two.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|         return x + self.base
| =======
|         return x + self.base + 2
| >>>>>>> REPLACE
| ```
