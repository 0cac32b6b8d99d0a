# A fence without a path that holds the only definition of a file isn't the file: its imports
# stay.
law 4.1 (1) | Without a path, definitions of one tracked file (of several, the conversation's) with enough of their words, all of which the model was shown: CONFIRMED | ast_match

disk stock.py
| import math
|
| def total(items):
|     total = 0
|     for item in items:
|         total += math.floor(item.price * item.qty)
|     return total
user
| @tslp accept stock.py
model
| Fine.

user
| Make `total` in stock.py skip what has no price.
model
| ```python
| def total(items):
|     total = 0
|     for item in items:
|         if item.price is not None:
|             total += math.floor(item.price * item.qty)
|     return total
| ```
