# The user adds a method in the editor: the model's edits of the others count one after the other,
# while the class stays STALE until the user accepts what it holds.
law 15.4 | What is around a changed definition, its class, holds its new version, and stays STALE for what disk holds besides | parts_changed

disk src/a.py
| class A:
|     base = 1
|
|     def one(self, x):
|         y = x + self.base
|         return y
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
|         y = x + self.base
|         return y
|
|     def reset(self):
|         self.base = 1
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
| Let `A.one` in src/a.py add two.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|         y = x + self.base
| =======
|         y = x + self.base + 2
| >>>>>>> REPLACE
| ```

user
| @tslp accept src/a.py
| What does class `A` do?
