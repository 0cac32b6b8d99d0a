# A grant below other words grants nothing.
law engine 8 | A grant that isn't the first line does nothing | grant_not_first

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
| Build it.
| @tslp allow BUILD_EXEC for 15m
