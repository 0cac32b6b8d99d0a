# The class that holds both changes isn't true, nor is the one before: it is around its methods,
# and an edit of the other one counts.
law 15.5 | A part that the user confirms takes what is around it with it, as far as nothing else of that changes; else that isn't true any more | part_replaced

disk src/a.py
| class A:
|     def one(self, x):
|         if x < 0:
|             raise ValueError(x)
|         return x + 1
|
|     def other(self, x):
|         if x > 0:
|             raise ValueError(x)
|         return x - 1
user
| @tslp accept src/a.py
model
| Noted.

user
| Look at `A.one` and `A.other` in src/a.py.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|         if x < 0:
|             raise ValueError(x)
| =======
| >>>>>>> REPLACE
| <<<<<<< SEARCH
|         if x > 0:
|             raise ValueError(x)
| =======
| >>>>>>> REPLACE
| ```

user
| @tslp confirm src/a.py::A.one
model
| Noted.

user
| Let `A.other` in src/a.py take two off.
model
| src/a.py
| ```
| <<<<<<< SEARCH
|         return x - 1
| =======
|         return x - 2
| >>>>>>> REPLACE
| ```
