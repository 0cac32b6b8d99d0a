# A class that the conversation shows became STALE: it goes out of the older message, and what of
# it is true is shown anew.

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

user
| What does class `A` do?
model
| It adds.

disk src/a.py
| class A:
|     base = 1
|
|     def one(self, x):
|         y = x + self.base + 5
|         return y
|
|     def other(self, x):
|         return x - self.base
user
| And what does `A.other` do?
