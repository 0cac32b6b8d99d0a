# A rename by a command, as asked, is no loss.

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
| Rename `discount` to `reduction` in shop/cart.py.
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
| {"command": "sed -i s/discount/reduction/ shop/cart.py"}
model
| I rename it.

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
| def reduction(amount, percent):
|     if percent > 100:
|         raise ValueError(percent)
|     return amount * (100 - percent) / 100
context tool
again
model
| Renamed.
