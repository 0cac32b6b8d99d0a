# A file of which the model has replaced a part is listed whole: what it leaves as it is needn't
# be shown again.

disk a.py
| import logging
|
| LIMIT = 3
|
| def alpha(a):
|     if a < 0:
|         return 0
|     return a * 2
|
| def beta(a):
|     if a < 0:
|         return 0
|     return a * 3
user
| What does this do?
| ```python:a.py
| import logging
|
| LIMIT = 3
|
| def alpha(a):
|     if a < 0:
|         return 0
|     return a * 2
|
| def beta(a):
|     if a < 0:
|         return 0
|     return a * 3
| ```
model
| It multiplies.

user
| Add a log to `beta`.
model
| ```python:a.py
| def beta(a):
|     if a < 0:
|         return 0
|     logging.info('beta %s', a)
|     return a * 3
| ```

disk a.py
| import logging
|
| LIMIT = 3
|
| def alpha(a):
|     if a < 0:
|         return 0
|     return a * 2
|
| def beta(a):
|     if a < 0:
|         return 0
|     logging.info('beta %s', a)
|     return a * 3
user
| One more. Give me the whole file a.py.
model
| ```python:a.py
| import logging
|
| LIMIT = 3
|
| def alpha(a):
|     if a < 0:
|         return 0
|     return a * 2
|
| def beta(a):
|     if a < 0:
|         return 0
|     logging.info('beta %s', a)
|     logging.info('again')
|     return a * 3
| ```
