# The user's method counts, and so does the model's next edit of another one: neither is the
# user's word for what the class holds besides.
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
| src/a.py
| ```python
|     def one(self, x):
|         return x + self.base + 5
| ```
| Fine?
model
| Yes.

user
| Let `A.other` in src/a.py take two off.
model
| ```python
| def other(self, x):
|     return x - self.base - 2
| ```
