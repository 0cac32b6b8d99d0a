# A Python function is the whole file, and its body loses its indentation on disk: the file is taken as
# it is, and the function, which can't be read, stays what it was.
law engine 4 | A file is compared as a whole, with its first line

disk g.py
| def g():
|     return 1
user
| ```python:g.py
| def g():
|     return 1
| ```
model
| Fine.

disk g.py
| def g():
| return 1
user
| Look at g.py
