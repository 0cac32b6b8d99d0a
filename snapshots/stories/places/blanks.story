# A line of two words above a fence is one name or none: never the file that its last word is.
law engine 4 | A name with blanks is taken whole or not at all

disk m.py
| def area(w, h):
|     return w * h
user
| @tslp accept m.py
model
| Noted.
user
| Write another area.
model
| my m.py
| ```python
| def area(w, h):
|     return 0
| ```
user
| And?
model
| **File: my m.py**
|
| ```python my m.py
| def area(w, h):
|     return 1
| ```
