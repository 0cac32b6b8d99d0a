# A bare method isn't taken for the file's function of its name: its head and its words say which
# it is.

user
| ```python:wrap.py
| import re
|
| class Wrapper:
|     def split(self, text):
|         return text.split()
|
|     def fill(self, text):
|         if text is None:
|             return ''
|         parts = self.split(text)
|         return ' '.join(parts)
|
| def fill(text, width=70):
|     if width < 1:
|         raise ValueError(width)
|     return Wrapper().fill(text)[:width]
| ```
model
| Fine.

user
| Make `Wrapper.fill` trace its parts.
model
| ```python:wrap.py
| def fill(self, text):
|     if text is None:
|         return ''
|     parts = self.split(text)
|     trace(parts)
|     return ' '.join(parts)
| ```

user
| And let `fill` count them.
model
| ```python:wrap.py
| def fill(text, width=70, count=None):
|     if width < 1:
|         raise ValueError(width)
|     filled = Wrapper().fill(text)[:width]
|     count(filled)
|     return filled
| ```
