# The user accepts one method of a class that holds another change, too: the class isn't left with
# the old one.
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
disk src/a.py
| class A:
|     base = 1
|
|     def one(self, x):
|         return x + self.base + 5
|
|     def reset(self):
|         self.base = 1
|
|     def other(self, x):
|         return x - self.base
user
| @tslp accept src/a.py::A.one
model
| Noted.

user
| Let `A.other` in src/a.py take two off.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|         return x - self.base
| =======
|         return x - self.base - 2
| >>>>>>> REPLACE
| ```
