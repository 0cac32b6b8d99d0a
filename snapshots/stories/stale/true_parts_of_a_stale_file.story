# A prompt names a file, or a class, to which something was added by hand: what of it is true is
# shown, and each method once.
law 15.4, 8.1 | What is STALE as a whole shows what of it is true | stale

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
new
user
| What is in src/a.py?
new
user
| What does class `A` do?
