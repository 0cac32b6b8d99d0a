# A class that doesn't fit hides none of its methods that do: its file isn't true as a whole, so
# its parts are shown.

policy budget 230

disk src/a.py
| class A:
|     """Steps by a table. Each limit of it is asked in turn, from the smallest one to the largest, and what is missing up to
|     the first that is not reached is what counts. Beyond the last of them the difference to that one is taken instead,
|     so that a large amount is never without a step; who changes a limit changes what all of its callers are charged,
|     and has to tell them so in the notes of the release in which the new limit is used for the first time."""
|     table = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
|
|     def one(self, x):
|         return x + self.table[0]
|
|     def long(self, x):
|         for limit in self.table:
|             if x < limit:
|                 return limit - x
|         return x - self.table[9]
| class B:
|     def one(self, x):
|         return x
user
| @tslp accept src/a.py
model
| Noted.

disk src/a.py
| class A:
|     """Steps by a table. Each limit of it is asked in turn, from the smallest one to the largest, and what is missing up to
|     the first that is not reached is what counts. Beyond the last of them the difference to that one is taken instead,
|     so that a large amount is never without a step; who changes a limit changes what all of its callers are charged,
|     and has to tell them so in the notes of the release in which the new limit is used for the first time."""
|     table = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]
|
|     def one(self, x):
|         return x + self.table[0]
|
|     def long(self, x):
|         for limit in self.table:
|             if x < limit:
|                 return limit - x
|         return x - self.table[9]
| class B:
|     def one(self, x):
|         return x
| LIMIT = 7
new
user
| What is in src/a.py?
