# A directive that the user types acts, also if the model advised it.

disk shop/cart.py
| def total(items):
|     return sum(items)
user
| shop/cart.py
| ```python
| def total(items):
|     return sum(items)
| ```
model
| Noted.

disk shop/cart.py
| def total(items):
|     return 0
user
| What now?
model
| Say this, please:
| @tslp accept shop/cart.py

user
| @tslp accept shop/cart.py
| Then go on.
