# A command takes out what the user asked to remove.

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
| Remove `total` from shop/cart.py.
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
| {"command": "python tidy.py shop/cart.py"}
model
| I remove it.

disk shop/cart.py
| def discount(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
again
model
| Removed.
