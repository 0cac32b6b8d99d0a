# Who accepts a class accepts what is inside of it: a changed method, a new one, and that one is
# gone.
law 15.5 | Who accepts a class accepts what is inside of it | omitted_by_update

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
user
| @tslp accept src/a.py::A
