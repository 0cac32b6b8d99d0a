# What a method leaves to a new one may stand in front of it; the comment stays above its method.
law 4.1 (1) | New methods may stand in front of a method that comes out of its class; the comment above it stays its own | edit_applied

user
| form.py
| ```python
| class Form:
|     def __init__(self):
|         self.params = {}
|
|     # Reads what a browser sent.
|     def parse(self, raw):
|         if not raw:
|             raise ValueError('empty')
|         params = {}
|         for pair in raw.split('&'):
|             key, _, value = pair.partition('=')
|             params[key] = value.strip()
|         self.params = params
|         return params
| ```
| Improve `parse`.
model
| form.py
| ```python
|     def _read_pairs(self, raw):
|         params = {}
|         for pair in raw.split('&'):
|             key, _, value = pair.partition('=')
|             params[key] = value.strip()
|         return params
|
|     def parse(self, raw):
|         if not raw:
|             raise ValueError('empty')
|         self.params = self._read_pairs(raw)
|         return self.params
| ```

user
| Show me `parse`.
