# A formatter that the agent runs changes the layout alone: no loss, and the truth follows.

touch
tools
disk shop/cart.py
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
user
| Format shop/cart.py, please.
call read
| {"path": "shop/cart.py"}
model
| I read it.

context tool
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
again
call bash
| {"command": "ruff format ."}
model
| I format it.

disk shop/cart.py
| def total(items):
|     result = 0
|     for item in items:
|         if item.price < 0:
|             raise ValueError(item)
|         result += item.price * item.count
|     return result
|
|
| def discount(
|     amount,
|     percent,
| ):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
| 1 file reformatted
again
model
| Formatted.

user
| Add a line to discount() in shop/cart.py.
model
| Which?
